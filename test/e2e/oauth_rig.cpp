#include "oauth_rig.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
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
  rig.slack = options.slack;
  rig.config = options.config;
  rig.emulator = {"--oauth-client",
                  std::string("id=") + kPublicClient + ",secret=unused,kind=pkce,redirect=" + here + rotation,
                  "--oauth-client",
                  std::string("id=") + kClassicClient + ",secret=" + kClassicSecret +
                      ",kind=classic,redirect=" + kPastedAddress + rotation};
  for (const std::string& person : options.people) rig.emulator.insert(rig.emulator.end(), {"--oauth-person", person});
  return rig;
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

}  // namespace

std::string Connecting::address() {
  const auto line = command_->wait_for_line("/authorize?", milliseconds(20000), Stream::err);
  if (!line) throw std::runtime_error("no address: " + command_->output() + command_->output(Stream::err));
  const std::size_t at = line->find("http");
  return line->substr(at, line->find_first_of(" \t\r\"", at) - at);
}

Finished Connecting::end(milliseconds timeout) {
  const auto status = command_->wait(timeout);
  if (!status) throw std::runtime_error("kruxos connect did not end: " + command_->output());
  return {*status, command_->output(), command_->output(Stream::err)};
}

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

Connecting OauthRig::connecting(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"connect", "slack", "--client-id", kPublicClient, "--no-browser"});
  return Connecting(launch_kruxos(arguments));
}

Finished OauthRig::connect_by(const Consent& consent, const std::vector<std::string>& arguments) {
  Connecting connecting = this->connecting(arguments);
  const Landing landing = browse(connecting.address(), consent);
  last_page = landing.page ? landing.page->body : "";
  Finished done = connecting.end();
  printed_ += done.out + done.err + last_page;
  return done;
}

void OauthRig::begin_by(const Consent& consent) {
  start();
  const Finished done = connect_by(consent);
  if (!done.status.ok()) throw std::runtime_error("kruxos connect: " + done.out + done.err);
  if (!eventually([this] { return synced(); }, milliseconds(30000)))
    throw std::runtime_error("no first sync: " + log());
  key = new_agent("assistant");
}

void OauthRig::check_no_secret() {
  const Json document = facts();
  std::vector<std::string> secrets{kClassicSecret};
  for (const auto& secret : find_at(document, "/oauth/secrets")->GetArray()) secrets.emplace_back(secret.GetString());
  std::vector<std::pair<std::string, std::string>> places{{"the log", log()}, {"the output", printed_}};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data())) {
    if (entry.is_regular_file()) places.emplace_back(entry.path().string(), content_of(entry.path()));
  }
  REQUIRE(secrets.size() > 1);
  for (const auto& [place, text] : places) {
    for (const std::string& secret : secrets) {
      INFO(place << " has " << secret);
      CHECK(text.find(secret) == std::string::npos);
    }
  }
}

}  // namespace krux::test
