# What an adapter's CMakeLists.txt calls.
#
# kruxos_add_plugin(TARGET [SOURCES] a.cpp … [LIBRARIES lib …] [OUTPUT_NAME name] [OUTPUT_DIRECTORY dir])
#   Builds the adapter as name.so (TARGET.so). It exports one symbol, hides everything else, and leaves nothing undefined,
#   so that a missing library shows when it is linked and not in the host. It lands in ${CMAKE_BINARY_DIR}/adapters.
#   LIBRARIES are linked privately; link them statically, for the host does not look for an adapter's own libraries.
#   With clang and -stdlib=libc++ in CMAKE_CXX_FLAGS the C++ runtime goes into the library as well, and is hidden there.
#
# kruxos_install_bundle(TARGET MANIFEST manifest.yaml DEFINITION name.yaml [POLICY name.policy.yaml] [FILES file …]
#                       [DESTINATION dir])
#   `cmake --install` puts the library and these files into one directory, dir (name) below the prefix: the bundle that is
#   handed on. Their modes are those that a host accepts, whatever the umask.
#
# kruxos_add_adapter_test(TEST ADAPTER TARGET [SOURCES] a_test.cpp … [LIBRARIES lib …])
#   A program for ctest, made of these files and the adapter's own: it sees the adapter's classes, and <kruxos/testing.hpp>
#   stands in for the host. Nothing is built while BUILD_TESTING is off.
include_guard(DIRECTORY)
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)

set(KRUXOS_PLUGIN_MAP ${CMAKE_CURRENT_LIST_DIR}/plugin.map)
if(NOT EXISTS ${KRUXOS_PLUGIN_MAP})
  cmake_path(SET KRUXOS_PLUGIN_MAP NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../plugin.map)
endif()
set(KRUXOS_PLUGIN_MAP ${KRUXOS_PLUGIN_MAP} CACHE INTERNAL "Version script of adapters")

# Unique symbols would be shared with the host and with other adapters.
check_cxx_compiler_flag(-fno-gnu-unique KRUXOS_HAS_NO_GNU_UNIQUE)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  check_cxx_source_compiles("#include <version>\n#ifndef _LIBCPP_VERSION\n#error\n#endif\nint main() { return 0; }"
                            KRUXOS_ADAPTERS_USE_LIBCXX)
endif()

function(kruxos_add_plugin target)
  cmake_parse_arguments(P "" "OUTPUT_NAME;OUTPUT_DIRECTORY" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT P_OUTPUT_DIRECTORY)
    set(P_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/adapters)
  endif()
  if(NOT P_OUTPUT_NAME)
    set(P_OUTPUT_NAME ${target})
  endif()
  add_library(${target} MODULE ${P_SOURCES} ${P_UNPARSED_ARGUMENTS})
  target_link_libraries(${target} PRIVATE Kruxos::plugin_api ${P_LIBRARIES})
  if(TARGET kruxos_warnings)
    target_link_libraries(${target} PRIVATE kruxos_warnings)
  endif()
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME ${P_OUTPUT_NAME} SUFFIX .so
    LIBRARY_OUTPUT_DIRECTORY ${P_OUTPUT_DIRECTORY}
    CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS ${KRUXOS_PLUGIN_MAP})
  # --exclude-libs hides what comes out of static libraries, a C++ runtime of the adapter's own included.
  target_link_options(${target} PRIVATE -Wl,--version-script=${KRUXOS_PLUGIN_MAP} -Wl,--exclude-libs,ALL -Wl,-z,noexecstack)
  if(NOT (KRUXOS_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
    # Clang leaves its sanitizer's runtime to the executable.
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  if(KRUXOS_HAS_NO_GNU_UNIQUE)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
  endif()
  if(KRUXOS_ADAPTERS_USE_LIBCXX)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()

function(kruxos_install_bundle target)
  cmake_parse_arguments(P "" "MANIFEST;DEFINITION;POLICY;DESTINATION" "FILES" ${ARGN})
  if(P_UNPARSED_ARGUMENTS OR NOT P_MANIFEST OR NOT P_DEFINITION)
    message(FATAL_ERROR "kruxos_install_bundle(${target} MANIFEST … DEFINITION … [POLICY …] [FILES …] [DESTINATION …])")
  endif()
  if(NOT P_DESTINATION)
    get_target_property(P_DESTINATION ${target} OUTPUT_NAME)
  endif()
  set(readable OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  install(TARGETS ${target} LIBRARY DESTINATION ${P_DESTINATION} PERMISSIONS ${readable})
  install(FILES ${P_MANIFEST} ${P_DEFINITION} ${P_POLICY} ${P_FILES} DESTINATION ${P_DESTINATION} PERMISSIONS ${readable})
  set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
      OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE PARENT_SCOPE)
endfunction()

function(kruxos_add_adapter_test test)
  cmake_parse_arguments(P "" "ADAPTER" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT P_ADAPTER)
    message(FATAL_ERROR "kruxos_add_adapter_test(${test} ADAPTER target SOURCES …): which adapter?")
  endif()
  if(DEFINED BUILD_TESTING AND NOT BUILD_TESTING)
    return()
  endif()
  get_target_property(directory ${P_ADAPTER} SOURCE_DIR)
  get_target_property(sources ${P_ADAPTER} SOURCES)
  list(TRANSFORM sources PREPEND "${directory}/" REGEX "^[^/$]")
  add_executable(${test} ${P_SOURCES} ${P_UNPARSED_ARGUMENTS} ${sources})
  target_include_directories(${test} PRIVATE ${directory})
  target_link_libraries(${test} PRIVATE Kruxos::plugin_api $<TARGET_PROPERTY:${P_ADAPTER},LINK_LIBRARIES> ${P_LIBRARIES})
  add_test(NAME ${test} COMMAND ${test})
endfunction()
