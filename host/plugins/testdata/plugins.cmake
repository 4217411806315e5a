# Plugins that only the tests load. Sets plugin_test_targets and plugin_test_definitions.
set(plugin_test_dir ${CMAKE_CURRENT_BINARY_DIR}/testdata)
set(plugin_test_targets kruxos-plugin-probe kruxos-plugin-runner notes)

function(add_test_plugin name source)
  kruxos_add_plugin(test_${name} SOURCES testdata/${source}.cpp OUTPUT_DIRECTORY ${plugin_test_dir})
  set_target_properties(test_${name} PROPERTIES OUTPUT_NAME ${name})
  target_compile_definitions(test_${name} PRIVATE ${ARGN})
  set(plugin_test_targets ${plugin_test_targets} test_${name} PARENT_SCOPE)
endfunction()

foreach(name no_entry function_entry bad_magic truncated_entry short_symbol no_describe bad_service bad_prefix bad_version
             bad_description endless_description crashing_constructor hanging_constructor exiting_constructor mock_adapter
             stray_adapter unruly_adapter)
  add_test_plugin(${name} ${name})
endforeach()
add_test_plugin(truncated_write stray_adapter STRAY_TRUNCATED_WRITE STRAY_SERVICE="truncated")
add_test_plugin(null_write stray_adapter STRAY_NULL_WRITE STRAY_SERVICE="nullwrite")

# These export what the version script of adapters hides.
foreach(name wrong_major)
  add_library(test_${name} MODULE testdata/${name}.cpp)
  set_target_properties(test_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY ${plugin_test_dir})
  list(APPEND plugin_test_targets test_${name})
endforeach()

set(plugin_test_definitions KRUXOS_TEST_PLUGINS="${plugin_test_dir}" KRUXOS_PLUGIN_PROBE="$<TARGET_FILE:kruxos-plugin-probe>"
                            KRUXOS_PLUGIN_RUNNER="$<TARGET_FILE:kruxos-plugin-runner>"
                            KRUXOS_NOTES_PLUGIN="$<TARGET_FILE:notes>"
                            KRUXOS_NOTES_DEFINITIONS="${CMAKE_SOURCE_DIR}/examples/notes_adapter/definitions")

# The mock adapter once more by clang with its own standard library, linked statically and hidden. Sanitizers do not mix.
find_program(KRUXOS_LIBCXX_COMPILER NAMES clang++-14 clang++)
find_file(KRUXOS_LIBCXX_ARCHIVE libc++.a PATHS /usr/lib/llvm-14/lib /usr/lib/x86_64-linux-gnu /usr/lib/aarch64-linux-gnu)
if(KRUXOS_LIBCXX_COMPILER AND KRUXOS_LIBCXX_ARCHIVE AND NOT KRUXOS_SANITIZE)
  set(libcxx_plugin ${plugin_test_dir}/libcxx_adapter.so)
  add_custom_command(OUTPUT ${libcxx_plugin}
    COMMAND ${KRUXOS_LIBCXX_COMPILER} -std=c++20 -O1 -stdlib=libc++ -static-libstdc++ -static-libgcc -shared -fPIC -pthread
            -fvisibility=hidden -fvisibility-inlines-hidden -I${CMAKE_SOURCE_DIR}/plugin-api/include
            ${CMAKE_CURRENT_SOURCE_DIR}/testdata/mock_adapter.cpp -o ${libcxx_plugin} -Wl,--version-script=${KRUXOS_PLUGIN_MAP}
            -Wl,--exclude-libs,ALL -Wl,-z,defs -MD -MF ${libcxx_plugin}.d
    DEPENDS testdata/mock_adapter.cpp
    DEPFILE ${libcxx_plugin}.d
    COMMENT "Building the mock adapter with libc++" VERBATIM)
  add_custom_target(test_libcxx_adapter DEPENDS ${libcxx_plugin})
  list(APPEND plugin_test_targets test_libcxx_adapter)
  list(APPEND plugin_test_definitions KRUXOS_LIBCXX_PLUGIN="${libcxx_plugin}")
else()
  message(STATUS "The test with a libc++ adapter is left out: it needs clang++, libc++ and no sanitizer")
endif()
