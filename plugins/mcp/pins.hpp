// Whether the server's tools are still those that the operator has agreed to.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "link.hpp"
#include "wrapped.hpp"

namespace mcp {

/// Any thread. `wrapped` and `link` outlive it.
class Pins {
 public:
  Pins(const Wrapped& wrapped, Link& link) : wrapped_(wrapped), link_(link) {}

  /// Asks the server for its tools where what is known of them is older than a minute (two, while another call asks),
  /// or counts no more. By which Link::tools_version() the tool was compared. Throws ProxyError with no effect: the
  /// tool has changed or is gone (type "ToolChanged"), or the server does not tell.
  std::uint64_t must_match(const kruxos::Call& call, const WrappedTool& tool);

  struct Comparison {
    std::string what;                    ///< is not as it was agreed to, sentences; empty: all is
    std::vector<std::string> unwrapped;  ///< the server's names of others
  };
  /// Asks the server in any case.
  Comparison compare(const kruxos::Call& call);

 private:
  using Known = std::map<std::string, std::string>;  ///< pins by the server's names
  void ask(const kruxos::Call& call);
  void ask_if_stale(const kruxos::Call& call);
  bool is_stale(std::int64_t age_ms) const;
  std::string difference(const WrappedTool& tool) const;
  std::string what_to_do() const;

  const Wrapped& wrapped_;
  Link& link_;
  std::mutex mutex_;
  Known known_;
  bool any_ = false, asking_ = false;
  std::uint64_t version_ = 0;
  std::int64_t asked_at_ms_ = 0;
};

}  // namespace mcp
