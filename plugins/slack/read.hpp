// slack.search, slack.read, slack.channels from the replica.
#pragma once

#include <kruxos/adapter.hpp>

#include <string>
#include <string_view>

namespace slack {

std::string read_capability(const kruxos::Reader& reader, std::string_view capability, std::string_view params_json);

}  // namespace slack
