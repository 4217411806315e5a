// Looking names up.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace network {

/// The addresses of a name. Throws ProxyError kNotFound, or kUnavailable where nobody can tell now.
using LookUp = std::function<std::vector<std::string>(const std::string& name)>;

/// By the system's resolver; it waits for as long as that does.
std::vector<std::string> look_up_by_system(const std::string& name);

}  // namespace network
