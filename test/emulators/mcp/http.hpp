// An emulated server over Streamable HTTP, at /mcp; what tests look at and change is below /_emulator/.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "emulators/common/http_types.hpp"
#include "emulators/mcp/server.hpp"

namespace krux::test::mcp_server {

class Endpoint {
 public:
  // `events`: answers come as text/event-stream.
  Endpoint(Settings settings, bool events) : server_(std::move(settings)), events_(events) {}

  void handle(const emulator::HttpRequest& request, std::shared_ptr<emulator::Responder> responder);

 private:
  struct Session {
    bool initialized = false;
  };
  using SessionPtr = std::shared_ptr<Session>;

  emulator::HttpAnswer control(const emulator::HttpRequest& request);
  void post(const emulator::HttpRequest& request, std::shared_ptr<emulator::Responder> responder);
  void send(const Outcome& outcome, const SessionPtr& session, emulator::Responder& responder);
  emulator::HttpAnswer body_of(const Outcome& outcome) const;
  // The sentence that refuses, with its status; nothing: it goes on.
  std::optional<emulator::HttpAnswer> why_refused(const emulator::HttpRequest& request) const;

  Server server_;
  const bool events_;
  std::map<std::string, SessionPtr> sessions_;
  int sessions_begun_ = 0;
};

}  // namespace krux::test::mcp_server
