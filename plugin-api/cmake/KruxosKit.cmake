# Kruxos::kit: the headers, and RapidJSON's, which kruxos/kit/json.hpp includes. Without those there is no such target, and no
# one else misses it.
if(NOT TARGET Kruxos::kit)
  find_path(RAPIDJSON_INCLUDE_DIR rapidjson/document.h)
  mark_as_advanced(RAPIDJSON_INCLUDE_DIR)
  if(RAPIDJSON_INCLUDE_DIR)
    add_library(Kruxos::kit INTERFACE IMPORTED GLOBAL)
    target_link_libraries(Kruxos::kit INTERFACE Kruxos::plugin_api)
    target_include_directories(Kruxos::kit SYSTEM INTERFACE ${RAPIDJSON_INCLUDE_DIR})
  endif()
endif()
