# kruxos_add_plugin(NAME [SOURCES] a.cpp … [LIBRARIES lib …] [OUTPUT_DIRECTORY dir])
#   Builds the adapter NAME.so. It exports one symbol, hides everything else, and leaves nothing undefined, so that a missing
#   library shows when it is linked and not in the host. Inside this project adapters land in ${CMAKE_BINARY_DIR}/adapters.
#   LIBRARIES are linked privately; link them statically, for the host does not look for an adapter's own libraries.
set(KRUXOS_PLUGIN_MAP ${CMAKE_CURRENT_LIST_DIR}/plugin.map)
if(NOT EXISTS ${KRUXOS_PLUGIN_MAP})
  cmake_path(SET KRUXOS_PLUGIN_MAP NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../plugin.map)
endif()
set(KRUXOS_PLUGIN_MAP ${KRUXOS_PLUGIN_MAP} CACHE INTERNAL "Version script of adapters")

function(kruxos_add_plugin name)
  cmake_parse_arguments(P "" "OUTPUT_DIRECTORY" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT P_OUTPUT_DIRECTORY)
    set(P_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/adapters)
  endif()
  add_library(${name} MODULE ${P_SOURCES} ${P_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE kruxos::plugin_api ${P_LIBRARIES})
  if(TARGET kruxos_warnings)
    target_link_libraries(${name} PRIVATE kruxos_warnings)
  endif()
  set_target_properties(${name} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name} SUFFIX .so
    LIBRARY_OUTPUT_DIRECTORY ${P_OUTPUT_DIRECTORY}
    CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS ${KRUXOS_PLUGIN_MAP})
  # --exclude-libs hides what comes out of static libraries, a C++ runtime of the adapter's own included.
  target_link_options(${name} PRIVATE -Wl,--version-script=${KRUXOS_PLUGIN_MAP} -Wl,--exclude-libs,ALL -Wl,-z,noexecstack)
  if(NOT (KRUXOS_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
    # Clang leaves its sanitizer's runtime to the executable.
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Unique symbols would be shared with the host and with other adapters.
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
  endif()
endfunction()
