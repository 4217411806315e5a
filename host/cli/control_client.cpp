#include "host/cli/control_client.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>
#include <vector>

#include "core/util/descriptor.hpp"
#include "core/util/error.hpp"
#include "core/util/json_parts.hpp"
#include "core/util/text.hpp"
#include "host/cli/secret_body.hpp"

namespace krux::cli {
namespace {

constexpr std::size_t kMaxAnswer = 64u << 20;

class Socket {
 public:
  Socket(const std::filesystem::path& path, int timeout_seconds)
      : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = path.string();
    if (name.size() >= sizeof address.sun_path)
      fail(kFailed, fmt::format("\"{}\" is too long for a socket's path.", printable(name)));
    std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
    const timeval limit{timeout_seconds, 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) refuse(errno, name);
  }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return;  // the host may have answered and closed already: its answer says why
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  std::string receive_all() {
    std::string all;
    std::array<char, 65536> chunk;
    while (all.size() < kMaxAnswer) {
      const auto n = ::recv(fd_.get(), chunk.data(), chunk.size(), 0);
      if (n < 0 && errno != ECONNRESET) fail(kFailed, "The host did not answer in time. Its log may say why.");
      if (n <= 0) break;
      all.append(chunk.data(), static_cast<std::size_t>(n));
    }
    if (all.size() >= kMaxAnswer)
      fail(kFailed,
           "The host's answer is larger than 64 MiB, which this command does not read. What it was asked for "
           "may be done nevertheless: ask for its state, or for less at once.");
    return all;
  }

 private:
  [[noreturn]] static void fail(ExitCode code, const std::string& message) { throw CliError(code, message); }
  [[noreturn]] static void refuse(int error, const std::string& name) {
    if (error == ENOENT || error == ECONNREFUSED || error == ENOTDIR) {
      fail(kNotRunning, fmt::format("The host is not running (nothing answers on {}). Start it with kruxosd, or name "
                                    "its place with --data-dir or --socket.",
                                    printable(name)));
    }
    if (error == EACCES) {
      fail(kFailed, fmt::format("You may not use {}: it belongs to the user that runs the host. Run this command as "
                                "that user or as root.",
                                printable(name)));
    }
    fail(kFailed,
         fmt::format("Cannot reach the host on {}: {}.", printable(name), std::generic_category().message(error)));
  }

  const Descriptor fd_;
};

struct ParsedAnswer {
  int status = 0;
  std::string body;
};

ParsedAnswer parse_answer(std::string text) {
  const auto end = text.find("\r\n\r\n");
  ParsedAnswer parsed;
  if (text.starts_with("HTTP/1.1 ") && text.size() > 12 && end != std::string::npos)
    std::from_chars(text.data() + 9, text.data() + 12, parsed.status);
  if (parsed.status == 0) throw CliError(kFailed, "The host's answer broke off. Its log may say why.");
  parsed.body = text.erase(0, end + 4);
  return parsed;
}

/// Whether the host wants to know that it is the operator who asks.
bool wants_grant(const JsonValue& answer) {
  const auto* error = find_member(answer, "error");
  const auto* context = error ? find_member(*error, "context") : nullptr;
  return context && find_string(*context, "needs").value_or("") == "grant";
}

std::string user_name() {
  passwd entry{}, *found = nullptr;
  std::array<char, 4096> buffer{};
  getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found);
  return found ? std::string(found->pw_name) : std::string();
}

ExitCode exit_code_of(int status) {
  return status == 404 ? kNotFound : status == 409 ? kConflict : kFailed;
}

}  // namespace

ControlClient::Raw ControlClient::exchange(const char* method, const std::string& target, std::string_view body) const {
  Socket socket(socket_, timeout_seconds_);
  SecretBytes head = make_secret(fmt::format(
      "{} {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n", method, target, body.size()));
  if (!granted_->grant.empty()) {
    append(head, "Kruxos-Grant: ");
    append(head, as_view(granted_->grant));
    append(head, "\r\n");
  }
  append(head, "\r\n");
  socket.send(as_view(head));
  socket.send(body);
  auto parsed = parse_answer(socket.receive_all());
  Raw raw{parsed.status, {std::move(parsed.body), {}}};
  try {
    raw.answer.json = parse_json(raw.answer.text, "The host's answer", {kMaxAnswer, 64});
  } catch (const Error& error) {
    throw CliError(kFailed, error.what());
  }
  return raw;
}

std::string ControlClient::which_operator() const {
  const auto raw = exchange("GET", "/v1/operator", {});  // an earlier host has no such path, or no names
  const auto& wanted = granted_->name;
  std::vector<std::string> names;
  for (const auto& one : items(part(raw.answer.json, "operator"), "operators").GetArray())
    names.push_back(text(one, "name"));
  std::string all;
  for (const auto& name : names) all += (all.empty() ? "" : ", ") + printable(name);
  const auto is_one = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (!wanted.empty() && !names.empty() && !is_one(wanted))
    throw CliError(kNotFound, fmt::format("There is no operator {}. There are: {}.", printable(wanted), all));
  if (!wanted.empty() || names.size() < 2) return wanted;
  if (const auto user = user_name(); is_one(user)) return user;
  throw CliError(kUsage, fmt::format("This host has several operators: {}. Say which of them you are: --operator NAME, "
                                     "or KRUXOS_OPERATOR. Nothing was done.",
                                     all));
}

void ControlClient::get_grant() const {
  if (granted_->grant.empty() && granted_->ask) ask_for_grant();
}

void ControlClient::ask_for_grant() const {
  granted_->grant.clear();
  const auto name = which_operator();
  const auto passphrase = granted_->ask(name);
  const auto body = secret_body({{"passphrase", as_view(passphrase)}, {"operator", name}});
  const auto answer = post("/v1/operator/grant", as_view(body));
  granted_->grant = make_secret(find_string(answer.json, "grant").value_or(""));
}

void ControlClient::get_grant_if_needed() const {
  const auto raw = exchange("GET", "/v1/operator", {});  // an earlier host has no such path, and asks for nothing
  const auto* shown = find_member(raw.answer.json, "operator");
  const bool needed = shown && find_bool(*shown, "needs_passphrase").value_or(false);
  if (needed && find_bool(*shown, "passphrase_set").value_or(false)) get_grant();
}

HostAnswer ControlClient::call(const char* method, const std::string& target, std::string_view body) const {
  auto raw = exchange(method, target, body);
  // Not twice: a grant that is refused as soon as it was given will not be taken the next time.
  if (raw.status == 401 && wants_grant(raw.answer.json) && granted_->ask) {
    ask_for_grant();
    raw = exchange(method, target, body);
  }
  if (raw.status / 100 == 2) return std::move(raw.answer);
  const auto* error = find_member(raw.answer.json, "error");
  const auto message = error ? find_string(*error, "message") : std::nullopt;
  throw CliError(exit_code_of(raw.status), message ? printable(*message) : "The host refused, without a reason.",
                 raw.answer.text);
}

}  // namespace krux::cli
