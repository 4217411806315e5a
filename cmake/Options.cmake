option(KRUXOS_BUILD_TESTS "Build tests, emulators and kruxosd-test" ON)
option(KRUXOS_BUILD_BENCH "Build the benchmarks" OFF)
option(KRUXOS_WERROR "Treat warnings in our own code as errors" ON)
set(KRUXOS_SANITIZE "" CACHE STRING "Sanitizers for everything we build, as -fsanitize= takes them (address,undefined or thread)")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# One place to run programs from, wherever their sources are; tests have their own (Testing.cmake).
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()

if(KRUXOS_SANITIZE)
  add_compile_options(-fsanitize=${KRUXOS_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${KRUXOS_SANITIZE})
  if(KRUXOS_SANITIZE MATCHES "thread")
    add_compile_options(-Wno-tsan)  # Asio's fences: ThreadSanitizer does not model them, its queues lock as well
  endif()
endif()

# Warnings belong to our own targets only: link kruxos_warnings PRIVATE.
add_library(kruxos_warnings INTERFACE)
target_compile_options(kruxos_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
                                                 -Wno-missing-field-initializers $<$<BOOL:${KRUXOS_WERROR}>:-Werror>
                                                 # g++ 12 sees both where there is nothing, within the standard library
                                                 $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-maybe-uninitialized>)
