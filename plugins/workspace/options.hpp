// What the operator sets of the workspaces, alike for every adapter that works in them.
#pragma once
#include <kruxos/kit/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace workspace {

struct Options {
  std::string root;                               ///< absolute
  std::uint64_t workspace_bytes = 1024ULL << 20;  ///< of one agent's files
  std::uint64_t workspace_entries = 200'000;
};

/// The keys root, workspace_mib and workspace_entries of services.SERVICE.adapter. Throws ProxyError kInvalid where the
/// root is missing.
Options options_of(const kruxos::kit::Json& config, std::string_view service);

/// `otherwise` where that key is not set.
std::uint64_t mib_of(const kruxos::kit::Json& config, const char* key, std::uint64_t otherwise);

}  // namespace workspace
