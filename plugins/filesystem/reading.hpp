// filesystem.read, list and stat.
#pragma once
#include <kruxos/adapter.hpp>
#include <kruxos/kit/json.hpp>

#include <string>

#include "workspace/home.hpp"

namespace filesystem {

std::string read_file(const workspace::Home& home, const kruxos::kit::Json& params);
std::string list(const kruxos::Call& call, const workspace::Home& home, const kruxos::kit::Json& params);
std::string stat_of(const workspace::Home& home, const kruxos::kit::Json& params);

}  // namespace filesystem
