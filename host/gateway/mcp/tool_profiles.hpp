// Which tools a client is shown: hosts take so many and no more, and each one costs the model's attention.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/capability/catalogue.hpp"

namespace krux::mcp {

inline constexpr std::size_t kMostCore = 20;

/// `profile` is what the address says behind `?tools=`: "core", "all", names of services, or several with commas
/// between them; empty is "core". Those of the host are in each. `services`: that are loaded. What is not shown can be
/// called all the same. Otherwise the sentence that refuses the profile.
std::variant<std::vector<Offered>, std::string> chosen(std::vector<Offered> offered, std::string_view profile,
                                                       const std::vector<std::string>& services);

}  // namespace krux::mcp
