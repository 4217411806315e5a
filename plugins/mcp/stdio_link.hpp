// The way to a server that is a program: one line each way is one message, over its standard input and output.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "confined/confinement.hpp"
#include "link.hpp"

namespace mcp {

class StdioTalk;

struct StdioOptions {
  std::vector<std::string> command;  ///< its words: the program, and what it is told
  confined::Confinement confinement;
  bool allow_root = false;     ///< of a host that runs as root: the kernel counts none of its processes
  std::string allow_root_key;  ///< where the operator sets that: "services.notes.adapter.allow_root"
};

/// Starts the program at the first ask(), confined, and again with the next one after it has ended: at once, then with
/// 1, 2, 4 … 60 s from start to start until it has answered something. Until then asks fail as kUnavailable, with how
/// long to wait.
///
/// A thread of its own starts it, writes, reads and ends it. It is ended that writes a line of more than 8 MiB, or more
/// than 10,000 messages or 64 MiB without an answer among them, that takes more than it is given, that does not read
/// what it is sent, or that lets three deadlines in a row pass without an answer between.
class StdioLink final : public Link {
 public:
  explicit StdioLink(StdioOptions options);
  /// Ends the program and what still waits, within two seconds; later only while the machine's sandbox is tried for the
  /// first time, which is given ten.
  ~StdioLink() override;
  StdioLink(const StdioLink&) = delete;
  StdioLink& operator=(const StdioLink&) = delete;

  /// At the deadline, and when the call is cancelled, the server is told so, and the request may have had an effect
  /// unless it was never written whole.
  std::string ask(const kruxos::Call& call, const Request& request) override;
  std::uint64_t tools_version() const override;
  std::uint64_t sessions() const override;

 private:
  std::unique_ptr<StdioTalk> talk_;
};

}  // namespace mcp
