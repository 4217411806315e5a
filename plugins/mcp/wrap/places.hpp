// The three files of a wrapped server, where the host looks for them.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "../definition_text.hpp"

namespace mcp {

struct Places {
  std::filesystem::path adapters, definitions, library;
  std::filesystem::path agreed(const std::string& service) const { return adapters / (service + ".mcp.json"); }
  std::filesystem::path adapter(const std::string& service) const { return adapters / (service + ".so"); }
  std::filesystem::path definition(const std::string& service) const { return definitions / (service + ".yaml"); }
};

/// What was agreed to before; nothing where the service is new, or wrapping it was cut off. Throws std::runtime_error
/// where it cannot be read, or where an adapter of that name stands there that wraps no server.
std::optional<Wrapped> agreed_before(const Places& places, const std::string& service);

struct Differences {
  std::vector<std::string> added, changed, gone;  ///< the server's names of tools
  bool moved = false;                             ///< another address, or another program
  bool any() const { return moved || !added.empty() || !changed.empty() || !gone.empty(); }
};
Differences differences(const Wrapped& before, const Wrapped& now);

/// All three files, or none where one of them cannot be written; the one that says what was agreed to last. A
/// definition that is there is the operator's: the new one is put beside it as SERVICE.yaml.new, and the path of that
/// is returned. Throws std::runtime_error.
std::optional<std::filesystem::path> put(const Places& places, const Wrapping& wrapping);

/// Writes what is not there of the definition, and the adapter where it is not the one that is shipped now. Whether
/// that was so.
bool complete(const Places& places, const Wrapping& wrapping);

}  // namespace mcp
