# stowage_module(NAME SOURCES … TESTS … PRIVATE …)
#
# One module of src/: an object library `stowage_NAME`. PRIVATE names third-party
# targets that no header of ours shows. TESTS go, one executable for the module, to ctest. What a module may include is the matter of
# scripts/check_layers.py.

add_library(stowage_flags INTERFACE)
target_compile_features(stowage_flags INTERFACE cxx_std_20)
target_compile_options(stowage_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
                                               $<$<BOOL:${STOWAGE_WERROR}>:-Werror>)
if(STOWAGE_SANITIZE)
  target_compile_options(stowage_flags INTERFACE -fsanitize=${STOWAGE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(stowage_flags INTERFACE -fsanitize=${STOWAGE_SANITIZE})
endif()
if(STOWAGE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "STOWAGE_FUZZ needs clang (libFuzzer); the compiler is ${CMAKE_CXX_COMPILER_ID}. Use the preset `asan`.")
  endif()
  # The library's own branches must be visible to the fuzzer; only the targets in fuzz/ link its main function.
  target_compile_options(stowage_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Objects that a shared libstowage can be linked from, of which only what carries STOWAGE_EXPORT is visible.
function(stowage_visibility target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# A test that is over at once gains nothing from an optimiser, which takes most of the time that compiling it takes.
set(stowage_quick_test_flags -O0)
set(stowage_slow_test_flags)

# Precompiled headers, one for the library's sources and one for each kind of tests, each made once, with the flags of those who use it: the
# standard headers that most of them include anyway, and fmt and GoogleTest, whose parsing takes longer than most of our sources do. No
# header of ours: a change there would compile everything again.
set(precompiled <algorithm> <array> <cstddef> <cstdint> <functional> <limits> <map> <memory> <numeric> <optional> <set> <span> <string> <string_view> <tuple> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
if(STOWAGE_PCH)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cpp CONTENT "// Has nothing: its target owns a precompiled header.\n")
  add_library(stowage_library_pch OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
  target_link_libraries(stowage_library_pch PRIVATE stowage_flags ${STOWAGE_FMT})
  stowage_visibility(stowage_library_pch)
  target_precompile_headers(stowage_library_pch PRIVATE ${precompiled})
  if(STOWAGE_TESTS)
    foreach(kind quick slow)
      add_library(stowage_${kind}_test_pch OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
      target_link_libraries(stowage_${kind}_test_pch PRIVATE stowage_flags ${STOWAGE_FMT} GTest::gtest GTest::gmock)
      target_compile_options(stowage_${kind}_test_pch PRIVATE ${stowage_${kind}_test_flags})
      target_precompile_headers(stowage_${kind}_test_pch PRIVATE ${precompiled} <gmock/gmock.h> <gtest/gtest.h>)
    endforeach()
  endif()
endif()

function(stowage_precompiled target pch)
  if(STOWAGE_PCH)
    target_link_libraries(${target} PRIVATE ${STOWAGE_FMT}) # the flags must be the same
    target_precompile_headers(${target} REUSE_FROM stowage_${pch}_pch)
  endif()
endfunction()

# Sources for which gcc 12 warns of overflows inside of std::string that are not there: it is known to, and with a precompiled header it no
# longer sees that the place is a system header.
function(stowage_false_alarms)
  set_source_files_properties(${ARGN} PROPERTIES
    COMPILE_OPTIONS "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-restrict>")
endfunction()

# Sources compiled several at a time, for trees that are built as a whole (STOWAGE_UNITY): headers are parsed once for a dozen of them.
function(stowage_unity target)
  if(STOWAGE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  endif()
endfunction()

function(stowage_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;TESTS;PRIVATE" ${ARGN})
  add_library(stowage_${name} OBJECT ${arg_SOURCES})
  target_include_directories(stowage_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(stowage_${name} PRIVATE stowage_flags ${arg_PRIVATE})
  stowage_visibility(stowage_${name})
  stowage_precompiled(stowage_${name} library)
  stowage_unity(stowage_${name})
  set_property(GLOBAL APPEND PROPERTY STOWAGE_MODULES ${name})
  set_property(GLOBAL APPEND PROPERTY STOWAGE_PRIVATE_LIBRARIES ${arg_PRIVATE})
  if(STOWAGE_TESTS AND arg_TESTS)
    stowage_test(${name}_test SOURCES ${arg_TESTS})
  endif()
endfunction()

# stowage_test(NAME SOURCES … LIBRARIES … LABELS … SHARDS n OPTIMISED): a GoogleTest executable over the whole library, and one ctest entry
# for it, or `n` that share its tests where it takes long. (One entry per test would start thousands of processes.) Tests may include src/
# headers. OPTIMISED: the test's own code is compiled like the library although it is not `slow`.
#
# Labels in use: `slow` (reads the data beside the project or takes more than a few seconds), `threads` (what TSan must see), `ggml`. The
# target `stowage_tests_LABEL` builds all tests of a label.
function(stowage_test name)
  cmake_parse_arguments(arg "OPTIMISED" "SHARDS" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE stowage_test_support stowage_internal stowage_flags GTest::gtest GTest::gmock GTest::gtest_main ${arg_LIBRARIES})
  set(kind quick)
  if("slow" IN_LIST arg_LABELS OR arg_OPTIMISED)
    set(kind slow)
  endif()
  target_compile_options(${name} PRIVATE ${stowage_${kind}_test_flags})
  stowage_precompiled(${name} ${kind}_test)
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  foreach(shard RANGE 1 ${arg_SHARDS})
    math(EXPR index "${shard} - 1")
    set(test ${name})
    if(arg_SHARDS GREATER 1)
      set(test ${name}_${shard})
    endif()
    add_test(NAME ${test} COMMAND ${name})
    set_tests_properties(${test} PROPERTIES LABELS "${arg_LABELS}" ENVIRONMENT
      "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${index};GTEST_OUTPUT=json:${PROJECT_BINARY_DIR}/results/${test}.json")
    if("slow" IN_LIST arg_LABELS)
      set_tests_properties(${test} PROPERTIES COST 100) # first, so that none is left alone at the end
    endif()
  endforeach()
  foreach(label IN LISTS arg_LABELS)
    if(NOT TARGET stowage_tests_${label})
      add_custom_target(stowage_tests_${label})
    endif()
    add_dependencies(stowage_tests_${label} ${name})
  endforeach()
endfunction()

# `stowage`, the one library that users link, from all modules; and `stowage_internal`, the same with everything that a shared library
# hides, for tests, benchmarks and adapters that use headers of src/.
function(stowage_library)
  add_library(stowage)
  add_library(stowage::stowage ALIAS stowage)
  get_property(modules GLOBAL PROPERTY STOWAGE_MODULES)
  get_property(private_libraries GLOBAL PROPERTY STOWAGE_PRIVATE_LIBRARIES)
  list(TRANSFORM modules REPLACE "(.+)" "$<TARGET_OBJECTS:stowage_\\1>" OUTPUT_VARIABLE objects)
  target_sources(stowage PRIVATE ${objects})
  # What has no binary is done with once the modules are compiled. Linked here, a static library would ask its users for it.
  set(libraries Threads::Threads)
  foreach(library IN LISTS private_libraries)
    get_target_property(type ${library} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      list(APPEND libraries ${library})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES libraries)
  set_property(GLOBAL PROPERTY STOWAGE_LINKED_LIBRARIES ${libraries}) # for StowageInstall.cmake
  target_link_libraries(stowage PRIVATE ${libraries})
  target_compile_features(stowage PUBLIC cxx_std_20)
  target_include_directories(stowage PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(stowage PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  if(BUILD_SHARED_LIBS) # libstowage.so is the C API
    set_target_properties(stowage PROPERTIES OUTPUT_NAME stowage_cpp)
  endif()
  if(STOWAGE_SANITIZE)
    target_link_options(stowage PUBLIC -fsanitize=${STOWAGE_SANITIZE})
  endif()
  if(NOT BUILD_SHARED_LIBS)
    add_library(stowage_internal ALIAS stowage)
    return()
  endif()
  if(UNIX AND NOT APPLE)
    # Instances of the standard library's templates are visible whatever the compiler is told.
    set(version_script ${PROJECT_SOURCE_DIR}/cmake/stowage.map)
    target_link_options(stowage PRIVATE LINKER:--version-script=${version_script})
    set_target_properties(stowage PROPERTIES LINK_DEPENDS ${version_script})
  endif()
  add_library(stowage_internal STATIC EXCLUDE_FROM_ALL ${objects})
  target_link_libraries(stowage_internal PUBLIC ${libraries})
  target_compile_features(stowage_internal PUBLIC cxx_std_20)
  target_include_directories(stowage_internal PUBLIC ${PROJECT_SOURCE_DIR}/include)
  set_target_properties(stowage_internal PROPERTIES LINKER_LANGUAGE CXX)
endfunction()
