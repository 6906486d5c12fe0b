# stowage_flatbuffers(TARGET SCHEMA): an interface library with the header `NAME_generated.h` that flatc makes of SCHEMA (NAME.fbs),
# in the build folder. Everything in flatbuffers that is used is in its headers, so that nothing is linked.
find_program(STOWAGE_FLATC flatc REQUIRED DOC "The compiler of flatbuffers' schemas (Debian: flatbuffers-compiler)")
find_path(STOWAGE_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h REQUIRED DOC "flatbuffers' headers (Debian: libflatbuffers-dev)")

function(stowage_flatbuffers target schema)
  get_filename_component(name ${schema} NAME_WE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target})
  set(header ${folder}/${name}_generated.h)
  add_custom_command(OUTPUT ${header} DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${schema}
    COMMAND ${STOWAGE_FLATC} --cpp --scoped-enums -o ${folder} ${CMAKE_CURRENT_SOURCE_DIR}/${schema})
  add_custom_target(${target}_header DEPENDS ${header})
  add_library(${target} INTERFACE)
  add_dependencies(${target} ${target}_header)
  target_include_directories(${target} SYSTEM INTERFACE ${folder} ${STOWAGE_FLATBUFFERS_INCLUDE})
endfunction()
