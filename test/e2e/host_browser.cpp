// The rig's person at the page of consent.
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "host_rig.hpp"

namespace krux::test {
namespace {

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

}  // namespace

std::string Connecting::address() {
  const auto line = command_->wait_for_line("client_id=", milliseconds(20000), Stream::err);
  if (!line) throw std::runtime_error("no address: " + command_->output() + command_->output(Stream::err));
  const std::size_t at = line->find("http");
  return line->substr(at, line->find_first_of(" \t\r\"", at) - at);
}

Finished Connecting::end(milliseconds timeout) {
  const auto status = command_->wait(timeout);
  if (!status) throw std::runtime_error("kruxos connect did not end: " + command_->output());
  return {*status, command_->output(), command_->output(Stream::err)};
}

Connecting HostRig::connecting(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"connect", served_.name, "--client-id", served_.client_id, "--no-browser"});
  return Connecting(launch_kruxos(arguments));
}

Finished HostRig::connect_by(const Consent& consent, const std::vector<std::string>& arguments) {
  Connecting connecting = this->connecting(arguments);
  const Landing landing = browse(connecting.address(), consent);
  last_page = landing.page ? landing.page->body : "";
  Finished done = connecting.end();
  printed_ += done.out + done.err + last_page;
  return done;
}

void HostRig::check_no_secret() {
  const Json document = facts();
  std::vector<std::string> secrets = served_.secrets;
  if (!served_.client_secret.empty()) secrets.push_back(served_.client_secret);
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
