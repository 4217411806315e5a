#include "host/certify/fake_service.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <system_error>
#include <thread>

#include "core/bundle/placeholders.hpp"
#include "core/util/descriptor.hpp"
#include "core/util/ids.hpp"
#include "host/certify/check.hpp"
#include "host/certify/lab.hpp"

namespace krux::certify {
namespace {

constexpr std::int64_t kReadyMs = 10'000;
constexpr std::size_t kShownAnswerBytes = 600;

/// One that nobody listens on at this moment.
std::uint16_t free_port() {
  const Descriptor fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (fd.get() < 0 || bind(fd.get(), plain, size) != 0 || getsockname(fd.get(), plain, &size) != 0)
    throw CheckFailed("There is no free port on 127.0.0.1.");
  return ntohs(address.sin_port);
}

std::string fill(std::string_view text, const Values& values) {
  return fill_placeholders(text, [&](std::string_view name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  });
}

std::string make_token(const std::string& pattern) {
  return fill(pattern, {{"random", random_hex(16)}});
}

}  // namespace

FakeService::FakeService(const BundleManifest& manifest, ServiceDefinition definition,
                         std::shared_ptr<HttpTransport> transport, std::filesystem::path log)
    : manifest_(manifest),
      definition_(std::move(definition)),
      transport_(std::move(transport)),
      log_(std::move(log)),
      token_(make_token(manifest.conformance->token)) {}

void FakeService::start() {
  const auto& kit = *manifest_.conformance;
  process_.reset();
  port_ = free_port();
  const Values values{{"port", std::to_string(port_)}, {"token", token_}};
  ChildCommand command;
  for (const auto& argument : kit.fake_service) command.argv.push_back(fill(argument, values));
  command.directory = manifest_.directory;
  command.log = log_;
  try {
    process_ = std::make_unique<ChildProcess>(command);
  } catch (const std::system_error& error) {
    throw CheckFailed(fmt::format("It could not be started: {}.", error.what()));
  }
  await_ready();
  const ServiceRequests requests(transport_, root_of(base_url_of(kit, port_)),
                                 authorization_for(definition_, kit, token_));
  try {
    auto prepare = values;
    prepare["n"] = "0";
    for (const auto& request : kit.prepare) requests.ask(request, prepare);
  } catch (const CheckSkipped& problem) {
    throw CheckFailed(problem.what());
  }
}

void FakeService::await_ready() {
  const auto& kit = *manifest_.conformance;
  const auto url = fill(kit.ready, {{"port", std::to_string(port_)}});
  const ServiceRequests requests(transport_, root_of(base_url_of(kit, port_)),
                                 authorization_for(definition_, kit, token_));
  const auto until = steady_ms() + kReadyMs;
  while (steady_ms() < until) {
    if (!process_->running())
      throw CheckFailed(fmt::format("{} It printed: {}", process_->end_in_words(), tail_of(log_, kShownAnswerBytes)));
    if (requests.answers(url, 2'000)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  throw CheckFailed(
      fmt::format("{} did not answer 200 within 10 s. It printed: {}", url, tail_of(log_, kShownAnswerBytes)));
}

}  // namespace krux::certify
