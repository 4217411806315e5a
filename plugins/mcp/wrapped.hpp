// What an operator has agreed to of one upstream server: the file SERVICE.mcp.json beside the adapter's SERVICE.so.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

struct WrappedTool {
  std::string capability;                        ///< "linear.create_issue"
  std::string tool;                              ///< the server's name of it
  std::string pin;                               ///< Tool::pin as it was agreed to
  bool reads = false;                            ///< a capability of kind read
  bool whole = false;                            ///< its one input is `arguments`
  std::map<std::string, std::string> arguments;  ///< by the input; all that there are, but of `whole`
};

struct Wrapped {
  std::string service;               ///< also the prefix of its capabilities
  std::string version = "1.0.0";     ///< of what was agreed to; wrapping again raises it
  std::string url;                   ///< of one that is asked by HTTP; else empty
  std::vector<std::string> command;  ///< of one that is a program
  std::vector<WrappedTool> tools;

  bool is_program() const { return url.empty(); }
  /// nullptr: none.
  const WrappedTool* find(std::string_view capability) const;
};

/// A service's name: small letters, digits and '_', a letter first, at most 32.
bool is_plain(std::string_view name);

/// Throws std::runtime_error with a sentence that names what does not fit.
Wrapped read_wrapped(std::string_view json);
/// One member a line, for people who compare.
std::string json_of(const Wrapped& wrapped);
std::string json_of(const WrappedTool& tool);

/// The address in two: "https://host:port/" and what stands behind it. Throws std::runtime_error: no http or https
/// address, one with a user or a fragment.
struct Address {
  std::string base, path;
};
Address address_of(std::string_view url);

}  // namespace mcp
