#include "oauth_rig.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace krux::test {
namespace {

// Free at the moment; Slack compares a redirect's port, so it has to be known beforehand.
std::uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool bound = ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(fd);
  if (!bound) throw std::runtime_error("no port is free");
  return ntohs(address.sin_port);
}

RigOptions rig_options(const OauthOptions& options, std::uint16_t port) {
  const std::string rotation = options.rotation ? ",rotation" : "";
  const std::string here = "http://localhost:" + std::to_string(port) + "/oauth/callback";
  RigOptions rig;
  rig.service = options.service;
  rig.config = options.config;
  rig.emulator = {"--oauth-client",
                  std::string("id=") + kPublicClient + ",secret=unused,kind=pkce,redirect=" + here + rotation,
                  "--oauth-client",
                  std::string("id=") + kClassicClient + ",secret=" + kClassicSecret +
                      ",kind=classic,redirect=" + kPastedAddress + rotation};
  for (const std::string& person : options.people) rig.emulator.insert(rig.emulator.end(), {"--oauth-person", person});
  return rig;
}

}  // namespace

OauthRig::OauthRig(const OauthOptions& options) : OauthRig(options, free_port()) {}

OauthRig::OauthRig(const OauthOptions& options, std::uint16_t callback_port)
    : Rig(rig_options(options, callback_port)), callback_port_(callback_port) {
  const std::string origin = slack().origin();
  const std::string section = "    oauth: {authorize_url: \"" + origin + "/oauth/v2/authorize\", token_url: \"" +
                              origin + "/api/oauth.v2.access\", revoke_url: \"" + origin +
                              "/api/auth.revoke\", callback_port: " + std::to_string(callback_port) + "}\n";
  const std::string base = "    api_base_url: " + slack().api_base_url() + "\n";
  config_text.insert(config_text.find(base) + base.size(), section);
}

void OauthRig::begin_by(const Consent& consent) {
  start();
  const Finished done = connect_by(consent);
  if (!done.status.ok()) throw std::runtime_error("kruxos connect: " + done.out + done.err);
  if (!eventually([this] { return synced(); }, milliseconds(30000)))
    throw std::runtime_error("no first sync: " + log());
  key = new_agent("assistant");
}

}  // namespace krux::test
