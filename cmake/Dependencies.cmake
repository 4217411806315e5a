# Every third-party package of the host, once. docs/dependencies.md says why each is here.
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS url)
find_package(OpenSSL 3.0 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(spdlog 1.10 REQUIRED)
find_package(yaml-cpp 0.7 REQUIRED)
find_package(SQLiteCpp 3.2 REQUIRED)
find_package(date 3 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(GMIME REQUIRED IMPORTED_TARGET gmime-3.0)
pkg_check_modules(PROMETHEUS REQUIRED IMPORTED_TARGET prometheus-cpp-core)
find_path(RAPIDJSON_INCLUDE_DIR rapidjson/document.h REQUIRED)
find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp REQUIRED)

add_library(kruxos_rapidjson INTERFACE)
target_include_directories(kruxos_rapidjson SYSTEM INTERFACE ${RAPIDJSON_INCLUDE_DIR})
# std::string overloads; the size type that our documents' limits are checked against.
target_compile_definitions(kruxos_rapidjson INTERFACE RAPIDJSON_HAS_STDSTRING=1)
# Never RAPIDJSON_SSE2, SSE42 or NEON: with them RapidJSON 1.1.0 writes 0x1a to 0x1f raw, and reads them raw, wherever
# they lie within an aligned block of 16 bytes, and raw they are no JSON. The headers that wrap it refuse to compile so.

# Of the gmail adapter alone.
# Its package asks for the 64-bit names of 32-bit systems; a macro that headers look at would set its tests apart from the
# headers that are compiled before.
foreach(property IN ITEMS INTERFACE_COMPILE_OPTIONS INTERFACE_COMPILE_DEFINITIONS)
  get_target_property(flags PkgConfig::GMIME ${property})
  if(flags)
    list(REMOVE_ITEM flags -D_LARGEFILE64_SOURCE _LARGEFILE64_SOURCE -pthread)
    set_target_properties(PkgConfig::GMIME PROPERTIES ${property} "${flags}")
  endif()
endforeach()
add_library(kruxos_gmime INTERFACE)
target_include_directories(kruxos_gmime SYSTEM INTERFACE ${GMIME_INCLUDE_DIRS})
target_link_libraries(kruxos_gmime INTERFACE PkgConfig::GMIME)

add_library(kruxos_cli11 INTERFACE)
target_include_directories(kruxos_cli11 SYSTEM INTERFACE ${CLI11_INCLUDE_DIR})

# Asio and Beast are compiled once (core/net/asio_impl.cpp) instead of in every file that includes them.
add_library(kruxos_asio INTERFACE)
target_link_libraries(kruxos_asio INTERFACE Boost::headers OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
target_compile_definitions(kruxos_asio INTERFACE BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION
                                                 BOOST_ASIO_NO_DEPRECATED)
