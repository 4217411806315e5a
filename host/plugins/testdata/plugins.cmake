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
             bad_description endless_description endless_schema throwing_description crashing_constructor hanging_constructor exiting_constructor mock_adapter
             grasping_constructor hoarding_constructor stray_adapter unruly_adapter)
  add_test_plugin(${name} ${name})
endforeach()
# What the probe sees, and what only an adapter shows that has an account.
add_test_plugin(truncated_role stray_adapter STRAY_TRUNCATED_WRITE)
add_test_plugin(null_function stray_adapter STRAY_NULL_WRITE)
add_test_plugin(null_query stray_adapter STRAY_NULL_QUERY)
add_test_plugin(null_resolve stray_adapter STRAY_NULL_RESOLVE)
add_test_plugin(needs_account stray_adapter STRAY_NEEDS_ACCOUNT)
add_test_plugin(crashing_creation stray_adapter STRAY_CRASHES)
add_test_plugin(truncated_write stray_adapter STRAY_TRUNCATED_WRITE STRAY_ONCE_CONNECTED STRAY_SERVICE="truncated")
add_test_plugin(null_write stray_adapter STRAY_NULL_WRITE STRAY_ONCE_CONNECTED STRAY_SERVICE="nullwrite")

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
