#include "pins.hpp"

#include <algorithm>
#include <utility>

#include "text.hpp"
#include "tools.hpp"

namespace mcp {
namespace {

using kruxos::ErrorKind;
using kruxos::ProxyError;

constexpr std::int64_t kFreshMs = 60'000;
constexpr std::size_t kMostNamed = 10;

}  // namespace

void Pins::ask(const kruxos::Call& call) {
  Known known;
  const auto at = call.now_ms();
  // Read before: where the server says meanwhile that its tools have changed, this list is from before that. A session
  // that it is asked in, and that was begun for it, is none of that.
  const auto version = link_.tools_version();
  const auto changes = version - link_.sessions();
  try {
    for (auto& tool : list_tools(call, link_)) known.emplace(tool.name, tool.pin);
  } catch (const RpcError& error) {
    throw ProxyError(ErrorKind::kUnavailable, std::string("The server does not name its tools: ") + error.what())
        .no_effect();
  } catch (ProxyError& error) {
    throw error.no_effect();  // nothing but questions has gone out
  }
  const std::lock_guard lock(mutex_);
  known_ = std::move(known);
  any_ = true;
  version_ = changes + link_.sessions();
  asked_at_ms_ = at;
}

/// Under the mutex; empty: there is none.
std::string Pins::difference(const WrappedTool& tool) const {
  const auto now = known_.find(tool.tool);
  const auto name = one_line(tool.tool, 60);
  if (now == known_.end()) return "The server has no tool " + name + " any more.";
  if (now->second == tool.pin) return {};
  return "The server has changed the tool " + name + ": its text, its input or what it says of itself.";
}

std::string Pins::what_to_do() const {
  return " What is done by it would not be what you have agreed to: look at what it says now with kruxos adapter "
         "wrap " +
         wrapped_.service + ", and agree to that or leave it out.";
}

/// Under the mutex. While one call asks, the others go by what was known, for a minute more: a server is not asked by
/// all of them at once.
bool Pins::is_stale(std::int64_t age_ms) const {
  if (!any_ || version_ != link_.tools_version() || age_ms < 0) return true;
  return age_ms >= (asking_ ? 2 * kFreshMs : kFreshMs);
}

std::uint64_t Pins::must_match(const kruxos::Call& call, const WrappedTool& tool) {
  ask_if_stale(call);
  const std::lock_guard lock(mutex_);
  if (const auto what = difference(tool); !what.empty())
    throw ProxyError(ErrorKind::kRefused, what + what_to_do()).type("ToolChanged").no_effect();
  return version_;
}

void Pins::ask_if_stale(const kruxos::Call& call) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (!is_stale(call.now_ms() - asked_at_ms_)) return;
    first = !std::exchange(asking_, true);
  }
  struct AskingEnds {
    Pins& pins;
    const bool first;
    ~AskingEnds() {
      const std::lock_guard again(pins.mutex_);
      if (first) pins.asking_ = false;
    }
  } asked{*this, first};
  ask(call);
}

Pins::Comparison Pins::compare(const kruxos::Call& call) {
  ask(call);
  const std::lock_guard lock(mutex_);
  Comparison comparison;
  std::size_t count = 0;
  for (const auto& tool : wrapped_.tools) {
    const auto what = difference(tool);
    if (what.empty() || ++count > kMostNamed) continue;
    comparison.what += (comparison.what.empty() ? "" : " ") + what;
  }
  if (count > kMostNamed) comparison.what += " And " + std::to_string(count - kMostNamed) + " more.";
  if (count > 0) comparison.what += what_to_do();
  for (const auto& [name, pin] : known_) {
    const auto is = [&name = name](const WrappedTool& tool) { return tool.tool == name; };
    if (std::none_of(wrapped_.tools.begin(), wrapped_.tools.end(), is)) comparison.unwrapped.push_back(name);
  }
  return comparison;
}

}  // namespace mcp
