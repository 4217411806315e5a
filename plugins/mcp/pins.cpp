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

}  // namespace

Pins::Known Pins::ask(const kruxos::Call& call) {
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
  known_ = known;
  any_ = true;
  version_ = changes + link_.sessions();
  asked_at_ms_ = at;
  return known;
}

std::string Pins::why_not(const Known& known, const WrappedTool& tool) const {
  const auto now = known.find(tool.tool);
  const auto name = one_line(tool.tool, 60);
  const auto then =
      " What is done by it would not be what you have agreed to: look at what it says now with kruxos "
      "adapter wrap " +
      wrapped_.service + ", and agree to that or leave it out.";
  if (now == known.end()) return "The server has no tool " + name + " any more." + then;
  return now->second == tool.pin
             ? ""
             : "The server has changed the tool " + name + ": its text, its input or what it says of itself." + then;
}

/// Under the mutex. While one call asks, the others go by what was known, for a minute more: a server is not asked by
/// all of them at once.
bool Pins::is_stale(std::int64_t age_ms) const {
  if (!any_ || version_ != link_.tools_version() || age_ms < 0) return true;
  return age_ms >= (asking_ ? 2 * kFreshMs : kFreshMs);
}

void Pins::must_match(const kruxos::Call& call, const WrappedTool& tool) {
  std::unique_lock lock(mutex_);
  auto known = known_;
  if (is_stale(call.now_ms() - asked_at_ms_)) {
    const bool first = !std::exchange(asking_, true);
    lock.unlock();
    struct AskingEnds {
      Pins& pins;
      const bool first;
      ~AskingEnds() {
        const std::lock_guard again(pins.mutex_);
        if (first) pins.asking_ = false;
      }
    } asked{*this, first};
    known = ask(call);
  }
  if (const auto why = why_not(known, tool); !why.empty())
    throw ProxyError(ErrorKind::kRefused, why).type("ToolChanged").no_effect();
}

Pins::Comparison Pins::compare(const kruxos::Call& call) {
  const auto known = ask(call);
  Comparison comparison;
  for (const auto& tool : wrapped_.tools) comparison.tools.push_back({&tool, why_not(known, tool)});
  for (const auto& [name, pin] : known) {
    const auto is = [&name = name](const WrappedTool& tool) { return tool.tool == name; };
    if (std::none_of(wrapped_.tools.begin(), wrapped_.tools.end(), is)) comparison.unwrapped.push_back(name);
  }
  return comparison;
}

}  // namespace mcp
