// filesystem.search: by name and by text, bounded in time and size.
#pragma once
#include <kruxos/adapter.hpp>
#include <kruxos/kit/json.hpp>

#include <string>

#include "workspace/home.hpp"

namespace filesystem {

std::string search(const kruxos::Call& call, const workspace::Home& home, const kruxos::kit::Json& params);

}  // namespace filesystem
