# The installed tree: headers, both libraries, and what CMake and pkg-config need to find them. Every path in it is relative to
# the file that names it, so the tree may be moved or packed up.
#
# libjitquill.so has no version in its SONAME. People name the file in LD_PRELOAD, copy it alone into a container, and a host may
# be linked with it too: with one name the loader takes the preloaded library for the linked one, so a process never has two
# agents. What it exports only ever grows (jitquill.h, "Growth"); a library that breaks this would have another name.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Jitquill)
configure_package_config_file(cmake/JitquillConfig.cmake.in JitquillConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_LIBDIR)
# Until 1.0 the writer's C++ interface may change with each minor version; the C API may not.
write_basic_package_version_file(JitquillConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/JitquillConfig.cmake ${PROJECT_BINARY_DIR}/JitquillConfigVersion.cmake
  DESTINATION ${package_dir})
install(EXPORT JitquillTargets NAMESPACE Jitquill:: DESTINATION ${package_dir})

set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pkgconfig_to_prefix /${pkgconfig_dir} /)
foreach(name jitquill jitquill-headers jitquill-writer)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${pkgconfig_dir})
endforeach()

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
