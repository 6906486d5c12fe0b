# stowage_module(NAME SOURCES … TESTS … DEPENDS … PRIVATE …)
#
# One module of src/: an object library `stowage_NAME` whose public header is include/stowage/NAME.hpp. DEPENDS names modules that it
# may include; PRIVATE names third-party targets that no header of ours shows. TESTS go, one executable for the module, to ctest.

set(STOWAGE_MODULES "" CACHE INTERNAL "")
set(STOWAGE_PRIVATE_LIBRARIES "" CACHE INTERNAL "")

add_library(stowage_flags INTERFACE)
target_compile_features(stowage_flags INTERFACE cxx_std_20)
target_compile_options(stowage_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
                                               $<$<BOOL:${STOWAGE_WERROR}>:-Werror>)
if(STOWAGE_SANITIZE)
  target_compile_options(stowage_flags INTERFACE -fsanitize=${STOWAGE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(stowage_flags INTERFACE -fsanitize=${STOWAGE_SANITIZE})
endif()

function(stowage_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;TESTS;DEPENDS;PRIVATE" ${ARGN})
  add_library(stowage_${name} OBJECT ${arg_SOURCES})
  target_include_directories(stowage_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(stowage_${name} PRIVATE stowage_flags ${arg_PRIVATE})
  set_target_properties(stowage_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  set(STOWAGE_MODULES "${STOWAGE_MODULES};${name}" CACHE INTERNAL "")
  set(STOWAGE_PRIVATE_LIBRARIES "${STOWAGE_PRIVATE_LIBRARIES};${arg_PRIVATE}" CACHE INTERNAL "")
  if(STOWAGE_TESTS AND arg_TESTS)
    stowage_test(${name}_test SOURCES ${arg_TESTS})
  endif()
endfunction()

# stowage_test(NAME SOURCES … LIBRARIES … LABELS …): a GoogleTest executable over the whole library. Tests may include src/ headers.
function(stowage_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE stowage stowage_flags GTest::gtest GTest::gmock GTest::gtest_main ${arg_LIBRARIES})
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS "${arg_LABELS}")
endfunction()

# The one library that users link, from all modules.
function(stowage_library)
  add_library(stowage)
  add_library(stowage::stowage ALIAS stowage)
  foreach(module IN LISTS STOWAGE_MODULES)
    target_sources(stowage PRIVATE $<TARGET_OBJECTS:stowage_${module}>)
  endforeach()
  set(libraries ${STOWAGE_PRIVATE_LIBRARIES})
  list(REMOVE_DUPLICATES libraries)
  target_link_libraries(stowage PRIVATE ${libraries} Threads::Threads)
  target_compile_features(stowage PUBLIC cxx_std_20)
  target_include_directories(stowage PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  set_target_properties(stowage PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  if(STOWAGE_SANITIZE)
    target_link_options(stowage PUBLIC -fsanitize=${STOWAGE_SANITIZE})
  endif()
endfunction()
