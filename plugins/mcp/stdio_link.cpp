#include "stdio_link.hpp"

#include <utility>

#include "stdio_talk.hpp"

namespace mcp {

StdioLink::StdioLink(StdioOptions options) : talk_(std::make_unique<StdioTalk>(std::move(options))) {}
StdioLink::~StdioLink() = default;

std::string StdioLink::ask(const kruxos::Call& call, const Request& request) {
  return talk_->ask(call, request);
}

std::uint64_t StdioLink::tools_version() const {
  return talk_->tools_version();
}

std::uint64_t StdioLink::sessions() const {
  return talk_->sessions();
}

}  // namespace mcp
