// How what the file system answers becomes a failure of the call.
#pragma once
#include <kruxos/adapter/error.hpp>

#include <string>
#include <string_view>

namespace workspace {

// All of them are certain to have had no effect.
kruxos::ProxyError invalid(const std::string& sentence);
kruxos::ProxyError not_found(std::string_view path);
kruxos::ProxyError refused(const std::string& sentence, const char* type);
kruxos::ProxyError conflict(const std::string& sentence);

/// What `errno_value` means of the path as its agent names it. `doing`: "read", "written".
kruxos::ProxyError failure_of(int errno_value, std::string_view path, std::string_view doing);

}  // namespace workspace
