option(KRUXOS_BUILD_TESTS "Build tests, emulators and kruxosd-test" ON)
option(KRUXOS_BUILD_BENCH "Build the benchmarks" OFF)
option(KRUXOS_WERROR "Treat warnings in our own code as errors" ON)
set(KRUXOS_SANITIZE "" CACHE STRING "Sanitizers for everything we build, as -fsanitize= takes them (address,undefined or thread)")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# Half of what our files take to compile is the same headers and templates again: a target's files are compiled in batches.
# Names in anonymous namespaces are therefore unique in their folder. -DKRUXOS_UNITY=OFF compiles file by file.
option(KRUXOS_UNITY "Compile the sources of a target in batches" ON)
set(CMAKE_UNITY_BUILD ${KRUXOS_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)

# Of a library of several folders each batch holds files of one: names are unique in their folder, and a file that is added
# in one moves nothing in another. Called when all sources are known.
function(kruxos_batch_by_folder target)
  get_target_property(sources ${target} SOURCES)
  get_target_property(home ${target} SOURCE_DIR)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${home} OUTPUT_VARIABLE file)
    cmake_path(GET file PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER ${folder} group)
    math(EXPR in_${group} "0${in_${group}} + 1")
    math(EXPR batch "(${in_${group}} - 1) / ${CMAKE_UNITY_BUILD_BATCH_SIZE}")
    set_source_files_properties(${file} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group}_${batch})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

# One place to run programs from, wherever their sources are; tests have their own (Testing.cmake).
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What is compiled before its users is cached only with this.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()

# Programs with sanitizers are large and many: a quicker linker takes a tenth of the time. What is shipped is linked as the
# system's compiler does it.
find_program(MOLD mold)
if(KRUXOS_SANITIZE AND MOLD)
  add_link_options(-fuse-ld=mold)
endif()

if(KRUXOS_SANITIZE)
  add_compile_options(-fsanitize=${KRUXOS_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${KRUXOS_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options(-fsanitize-ignorelist=${CMAKE_CURRENT_LIST_DIR}/sanitizers_ignore.txt)
    # As g++ tells code that it is compiled so.
    if(KRUXOS_SANITIZE MATCHES "address")
      add_compile_definitions(__SANITIZE_ADDRESS__=1)
    elseif(KRUXOS_SANITIZE MATCHES "thread")
      add_compile_definitions(__SANITIZE_THREAD__=1)
    endif()
  endif()
  if(KRUXOS_SANITIZE MATCHES "undefined")
    # It reads memory through a pipe of its own, and errs in tests that use up all descriptors.
    add_compile_options(-fno-sanitize=vptr)
  endif()
  if(KRUXOS_SANITIZE MATCHES "address")
    # Its tables of names and places are a third of a program: linked for a fixed address, no start has to relocate them.
    set(CMAKE_EXE_LINKER_FLAGS "${CMAKE_EXE_LINKER_FLAGS} -no-pie")
  endif()
  if(KRUXOS_SANITIZE MATCHES "thread")
    # Asio's fences: ThreadSanitizer does not model them, its queues lock as well.
    add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
endif()

# Warnings belong to our own targets only: link kruxos_warnings PRIVATE.
add_library(kruxos_warnings INTERFACE)
target_compile_options(kruxos_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
                                                 -Wno-missing-field-initializers $<$<BOOL:${KRUXOS_WERROR}>:-Werror>
                                                 # g++ 12 sees both where there is nothing, within the standard library
                                                 $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-maybe-uninitialized>
                                                 # RapidJSON compares its iterators as C++17 did
                                                 $<$<CXX_COMPILER_ID:Clang>:-Wno-ambiguous-reversed-operator>
                                                 # A batch of files looks like one that includes the others
                                                 $<$<AND:$<BOOL:${KRUXOS_UNITY}>,$<COMPILE_LANG_AND_ID:CXX,GNU>>:-Wno-subobject-linkage>)
