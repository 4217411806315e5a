// What a command shows, drawn again and again on a terminal.
#pragma once

#include <functional>

#include "host/cli/session.hpp"

namespace krux::cli {

/// A terminal that gives keys, or lines within, and what it gave before again however this ends.
class Keys {
 public:
  Keys(Console& console, bool keys) : console_(console), keys_(keys) { console_.read_keys(keys_); }
  ~Keys() { console_.read_keys(!keys_); }
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;

 private:
  Console& console_;
  const bool keys_;
};

constexpr int kLookEveryMs = 2000;

/// Until q is pressed; Ctrl-C ends the program and leaves the terminal as it was. A host that is away for a while is
/// waited for, once it has answered. Throws CliError where there is no terminal, and with --json.
int watch(const Session& session, const std::function<int(const Session&)>& show);

}  // namespace krux::cli
