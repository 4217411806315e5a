# kruxos_add_test(NAME core_write SOURCES a_test.cpp … LIBRARIES kruxos_core [LABELS concurrent])
#   One Catch2 executable, its cases registered with ctest one by one. Tests stand beside the code they test (*_test.cpp).
#   HEADERS: the tested code is in headers.
#   LABELS concurrent: run once more under ThreadSanitizer; the target concurrent_tests builds just these.
#   LABELS shipped: run once more over the release's code (end to end, and what a sanitizer changes); the target shipped_tests builds just these.
#   COST: seconds that the longest cases take, 0 unless told: ctest begins with the longest, so that none is left to run alone.
#   A case's name holds no ';' (it would be split): a name that matches no case fails.
if(NOT KRUXOS_BUILD_TESTS)
  function(kruxos_add_test)
  endfunction()
  return()
endif()
enable_testing()
find_package(Catch2 2.13 REQUIRED)
include(Catch)

# Catch2's main() and implementation, compiled once.
add_library(kruxos_test_main STATIC ${CMAKE_SOURCE_DIR}/test/support/catch_main.cpp)
target_link_libraries(kruxos_test_main PUBLIC Catch2::Catch2)
target_include_directories(kruxos_test_main PUBLIC ${CMAKE_SOURCE_DIR}/test)

# Optimising Catch2's expressions takes longer than it saves when they run once; what is tested is compiled as its preset says.
# And of what a test file takes to compile, a third goes into checking the test itself for undefined behaviour.
set(kruxos_test_options -O0 $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
if(KRUXOS_SANITIZE MATCHES "undefined")
  list(APPEND kruxos_test_options -fno-sanitize=undefined)
endif()

# What nearly every file of tests includes, compiled once; by a program, since it is compiled with other flags than a library.
add_executable(kruxos_test_headers EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/test/support/precompiled.cpp)
target_link_libraries(kruxos_test_headers PRIVATE Catch2::Catch2 Threads::Threads kruxos_warnings)
target_compile_options(kruxos_test_headers PRIVATE ${kruxos_test_options})
target_precompile_headers(kruxos_test_headers PRIVATE <catch2/catch.hpp> <algorithm> <array> <atomic> <chrono> <filesystem> <fstream>
  <functional> <future> <map> <memory> <mutex> <optional> <random> <set> <sstream> <string> <string_view> <thread> <variant> <vector>)

add_custom_target(concurrent_tests)
add_custom_target(shipped_tests)

# Catch's own module flattens a list of labels, so they are laid on the discovered cases in a file of their own.
function(kruxos_label_tests target cost)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_labels.cmake)
  file(WRITE ${file} "foreach(name IN LISTS ${target}_TESTS)\n"
                     "  set_tests_properties(\"\${name}\" PROPERTIES LABELS \"${ARGN}\" COST ${cost})\n"
                     "endforeach()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
endfunction()

function(kruxos_add_test)
  cmake_parse_arguments(T "HEADERS" "NAME;TIMEOUT;COST" "SOURCES;LIBRARIES;LABELS;DEFINITIONS;DEPENDS" ${ARGN})
  add_executable(${T_NAME}_tests ${T_SOURCES})
  # Each file of tests has fixtures of its own, whose names are those of its neighbours: it lies in a namespace of its own.
  if(KRUXOS_UNITY)
    set_target_properties(${T_NAME}_tests PROPERTIES UNITY_BUILD_UNIQUE_ID KRUXOS_TEST_FILE)
  else()
    target_compile_definitions(${T_NAME}_tests PRIVATE KRUXOS_TEST_FILE=test_file)
  endif()
  set_target_properties(${T_NAME}_tests PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  # HEADERS: what is tested stands in headers, and keeps its checks.
  if(NOT T_HEADERS)
    target_compile_options(${T_NAME}_tests PRIVATE ${kruxos_test_options})
    target_precompile_headers(${T_NAME}_tests REUSE_FROM kruxos_test_headers)
  endif()
  target_link_libraries(${T_NAME}_tests PRIVATE kruxos_test_main kruxos_warnings ${T_LIBRARIES})
  if(T_DEFINITIONS)
    target_compile_definitions(${T_NAME}_tests PRIVATE ${T_DEFINITIONS})
  endif()
  if(T_DEPENDS)
    add_dependencies(${T_NAME}_tests ${T_DEPENDS})
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  if(NOT T_COST)
    set(T_COST 0)
  endif()
  if("concurrent" IN_LIST T_LABELS)
    add_dependencies(concurrent_tests ${T_NAME}_tests)
  endif()
  if("shipped" IN_LIST T_LABELS)
    add_dependencies(shipped_tests ${T_NAME}_tests)
  endif()
  catch_discover_tests(${T_NAME}_tests TEST_PREFIX "${T_NAME}: " EXTRA_ARGS --warn NoTests
                       PROPERTIES TIMEOUT ${T_TIMEOUT})
  kruxos_label_tests(${T_NAME}_tests ${T_COST} ${T_NAME} ${T_LABELS})
endfunction()
