# Tests of CUDA: everywhere on a fake driver, and on the real one where there is a GPU (docs/cuda.md).

# The library that the module's tests load instead of libcuda.so.1.
set(support ${PROJECT_SOURCE_DIR}/tests/support/cuda)
add_library(stowage_fake_cuda MODULE
  ${support}/state.cpp ${support}/contexts.cpp ${support}/memory.cpp ${support}/pages.cpp ${support}/streams.cpp ${support}/modules.cpp)
target_include_directories(stowage_fake_cuda PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(stowage_fake_cuda PRIVATE stowage_flags)
foreach(test memory_test memory_threads_test)
  target_compile_definitions(${test} PRIVATE STOWAGE_TEST_CUDA="$<TARGET_FILE:stowage_fake_cuda>")
  target_link_libraries(${test} PRIVATE ${STOWAGE_FMT})
  add_dependencies(${test} stowage_fake_cuda)
endforeach()

# The same suites on the real driver, as one executable that needs only glibc, so that it can be copied to a machine
# with a GPU. Debian has libfmt only as a shared library, so the sources are compiled again with header-only fmt.
foreach(module base memory)
  get_target_property(sources stowage_${module} SOURCES)
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/src/${module}/ OUTPUT_VARIABLE ${module}_sources)
endforeach()
add_executable(cuda_memory_test ${conformance_tests} threads_test.cpp cuda/cuda_test.cpp ${support}/real_main.cpp
                                ${base_sources} ${memory_sources})
target_include_directories(cuda_memory_test PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
set_target_properties(cuda_memory_test PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12) # the library's sources only
set_source_files_properties(${conformance_tests} threads_test.cpp cuda/cuda_test.cpp ${support}/real_main.cpp
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
target_compile_definitions(cuda_memory_test PRIVATE STOWAGE_TEST_CUDA="" STOWAGE_TEST_CUDA_ONLY FMT_HEADER_ONLY)
target_link_libraries(cuda_memory_test PRIVATE stowage_flags GTest::gtest GTest::gmock Threads::Threads)
if(NOT STOWAGE_SANITIZE)
  target_link_options(cuda_memory_test PRIVATE -static-libstdc++ -static-libgcc)
endif()
add_test(NAME cuda_memory COMMAND cuda_memory_test)
set_tests_properties(cuda_memory PROPERTIES SKIP_RETURN_CODE 77)

# Our declarations against the toolkit's, where it is installed.
find_path(STOWAGE_CUDA_HEADERS cudaTypedefs.h PATHS /usr/local/cuda/include DOC "The CUDA toolkit's headers, for a check of our own")
mark_as_advanced(STOWAGE_CUDA_HEADERS)
if(STOWAGE_CUDA_HEADERS)
  add_library(cuda_header_test OBJECT cuda/header_test.cpp)
  target_include_directories(cuda_header_test PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(cuda_header_test SYSTEM PRIVATE ${STOWAGE_CUDA_HEADERS})
  target_link_libraries(cuda_header_test PRIVATE stowage_flags)
endif()
