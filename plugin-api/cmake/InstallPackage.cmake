# The package KruxosPluginApi: headers, the functions for adapters' CMake files, and where a host of the same prefix looks.
# Its version is the ABI's: find_package(KruxosPluginApi 1) takes every 1.x and nothing else.
include(CMakePackageConfigHelpers)

function(kruxos_read_abi_version out)
  file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/include/kruxos/abi/base.h lines REGEX "^#define KRUX_ABI_(MAJOR|MINOR) [0-9]+$")
  list(TRANSFORM lines REPLACE "^.* " "")
  list(JOIN lines "." version)
  if(NOT version MATCHES "^[0-9]+\\.[0-9]+$")
    message(FATAL_ERROR "kruxos/abi/base.h: KRUX_ABI_MAJOR and KRUX_ABI_MINOR are not where they were")
  endif()
  set(${out} ${version} PARENT_SCOPE)
endfunction()

kruxos_read_abi_version(KRUXOS_ABI_VERSION)
set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/KruxosPluginApi)
set(KRUXOS_PLUGINS_DIR lib/kruxos/adapters)
set(KRUXOS_DEFINITIONS_DIR ${CMAKE_INSTALL_DATADIR}/kruxos/definitions)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/KruxosPluginApiConfig.cmake.in
                              ${CMAKE_CURRENT_BINARY_DIR}/KruxosPluginApiConfig.cmake
                              INSTALL_DESTINATION ${package_dir}
                              PATH_VARS KRUXOS_PLUGINS_DIR KRUXOS_DEFINITIONS_DIR)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/KruxosPluginApiConfigVersion.cmake
                                 VERSION ${KRUXOS_ABI_VERSION} COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)

# A component of its own: it needs nothing to be built.
install(DIRECTORY include/kruxos DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT plugin_api FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(TARGETS kruxos_plugin_api EXPORT KruxosPluginApi COMPONENT plugin_api)
install(EXPORT KruxosPluginApi NAMESPACE Kruxos:: FILE KruxosPluginApiTargets.cmake DESTINATION ${package_dir} COMPONENT plugin_api)
install(FILES cmake/KruxosAddPlugin.cmake cmake/KruxosKit.cmake plugin.map ${CMAKE_CURRENT_BINARY_DIR}/KruxosPluginApiConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/KruxosPluginApiConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT plugin_api)
# For those whose build is no CMake: `pkg-config --cflags kruxos-plugin-api`, and `--variable=plugin_map` for the linker.
configure_file(${CMAKE_CURRENT_LIST_DIR}/kruxos-plugin-api.pc.in ${CMAKE_CURRENT_BINARY_DIR}/kruxos-plugin-api.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kruxos-plugin-api.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig COMPONENT plugin_api)
# Its terms and where to read on.
cmake_path(GET CMAKE_CURRENT_SOURCE_DIR PARENT_PATH above)
install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/README.md ${above}/LICENSE ${above}/NOTICE
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/kruxos-plugin-dev COMPONENT plugin_api)
