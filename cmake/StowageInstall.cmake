# What `cmake --install` puts where: the library and its headers, a CMake package (`find_package(stowage)` → stowage::stowage), a
# pkg-config file, and with STOWAGE_APPS the command line, its man page and shell completions. The tree may be moved afterwards.
# scripts/consumer_test.sh tries all of it, static and shared.

include(CMakePackageConfigHelpers)

install(TARGETS stowage EXPORT stowage_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/stowage DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# A shared libstowage has found its own libraries; a static one leaves them to its user. One line for each that is ever linked:
# how CMake and how pkg-config find it.
set(stowage_find_Threads::Threads "find_dependency(Threads)")
set(stowage_pc_libs_Threads::Threads -pthread)
set(stowage_find_fmt::fmt "find_dependency(fmt 9)")
set(stowage_pc_requires_fmt::fmt "fmt >= 9")
set(stowage_find_ZLIB::ZLIB "find_dependency(ZLIB)")
set(stowage_pc_requires_ZLIB::ZLIB zlib)

set(STOWAGE_FIND_DEPENDENCIES)
set(STOWAGE_PC_REQUIRES)
set(STOWAGE_PC_LIBS)
if(NOT BUILD_SHARED_LIBS)
  get_property(libraries GLOBAL PROPERTY STOWAGE_LINKED_LIBRARIES)
  foreach(library IN LISTS libraries)
    if(NOT DEFINED stowage_find_${library})
      message(FATAL_ERROR "StowageInstall.cmake does not say how users of a static libstowage find ${library}")
    endif()
    list(APPEND STOWAGE_FIND_DEPENDENCIES ${stowage_find_${library}})
    list(APPEND STOWAGE_PC_REQUIRES ${stowage_pc_requires_${library}})
    list(APPEND STOWAGE_PC_LIBS ${stowage_pc_libs_${library}})
  endforeach()
endif()
list(JOIN STOWAGE_FIND_DEPENDENCIES "\n" STOWAGE_FIND_DEPENDENCIES)
list(JOIN STOWAGE_PC_REQUIRES ", " STOWAGE_PC_REQUIRES)
list(JOIN STOWAGE_PC_LIBS " " STOWAGE_PC_LIBS)

# The C API's shared libraries: stowage::stowage_c and stowage::stowage_pack_c.
if(TARGET stowage_c)
  install(TARGETS stowage_c stowage_pack_c EXPORT stowage_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

# ----------------------------------------------------------------------------------------------------------- CMake package

set(stowage_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/stowage)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/stowageConfig.cmake.in ${PROJECT_BINARY_DIR}/stowageConfig.cmake
  INSTALL_DESTINATION ${stowage_package_dir})
# Before 1.0 a minor version may break.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/stowageConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT stowage_targets NAMESPACE stowage:: FILE stowageTargets.cmake DESTINATION ${stowage_package_dir})
install(FILES ${PROJECT_BINARY_DIR}/stowageConfig.cmake ${PROJECT_BINARY_DIR}/stowageConfigVersion.cmake
  DESTINATION ${stowage_package_dir})

# -------------------------------------------------------------------------------------------------------------- pkg-config

# Paths relative to the .pc file itself, so that they hold wherever the tree is installed or moved.
set(stowage_pc_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH STOWAGE_PC_INCLUDEDIR ${stowage_pc_dir} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
file(RELATIVE_PATH STOWAGE_PC_LIBDIR ${stowage_pc_dir} ${CMAKE_INSTALL_FULL_LIBDIR})
function(stowage_pc name link)
  set(STOWAGE_PC_NAME ${name})
  set(STOWAGE_PC_LINK ${link})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/stowage.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
# `-lstowage` is the C API's shared library.
if(BUILD_SHARED_LIBS)
  stowage_pc(stowage -lstowage_cpp)
else()
  stowage_pc(stowage -l:libstowage.a)
endif()
if(TARGET stowage_c)
  set(STOWAGE_PC_REQUIRES)
  set(STOWAGE_PC_LIBS)
  stowage_pc(stowage-c -lstowage)
  stowage_pc(stowage-pack -lstowage_pack)
endif()

# ------------------------------------------------------------------------------------------------------------ command line

if(STOWAGE_APPS)
  file(RELATIVE_PATH stowage_lib_from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(stowage_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${stowage_lib_from_bin}")
  install(TARGETS stowage_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(EXISTS ${PROJECT_SOURCE_DIR}/docs/stowage.1)
    install(FILES ${PROJECT_SOURCE_DIR}/docs/stowage.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
  if(NOT CMAKE_CROSSCOMPILING)
    # The program prints its completions itself.
    function(stowage_install_completion shell folder name)
      set(file ${PROJECT_BINARY_DIR}/completions/${shell}/${name})
      file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/completions/${shell})
      install(CODE "execute_process(COMMAND \"$<TARGET_FILE:stowage_cli>\" completion ${shell}
        OUTPUT_FILE \"${file}\" COMMAND_ERROR_IS_FATAL ANY)")
      install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder})
    endfunction()
    stowage_install_completion(bash bash-completion/completions stowage)
    stowage_install_completion(zsh zsh/site-functions _stowage)
    stowage_install_completion(fish fish/vendor_completions.d stowage.fish)
  endif()
endif()
