// kruxos-plugin-runner PLUGIN CONFINEMENT...: loads one adapter and answers kruxosd's calls on descriptor 3.
// kruxosd starts it; docs/isolation.md says what passes between them.
#include <openssl/crypto.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <new>
#include <string_view>
#include <vector>

#include "core/util/text.hpp"
#include "host/plugins/checked_load.hpp"
#include "host/runner/program/server.hpp"
#include "host/sandbox/confine.hpp"
#include "host/sandbox/confined_child.hpp"

namespace {

bool is_socket(int fd) {
  struct stat info {};
  return fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode);
}

void say_hello(krux::runner::Link& link, const krux::CheckedPlugin& plugin) {
  krux::WireWriter hello;
  hello.u32(krux::kWireVersion).text(plugin.problem).text(plugin.info.service).text(plugin.info.prefix);
  hello.text(plugin.info.version).text(plugin.sha256);
  link.send(krux::FrameKind::kHello, 0, 0, hello.bytes());
}

/// A process without memory would go on failing calls, one after the other; the next one has it again.
void end_without_memory() {
  constexpr std::string_view words = "It has used up its memory (runner.memory_mb).\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, words.data(), words.size());
  _exit(5);
}

krux::CheckedPlugin load(const std::filesystem::path& file) {
  try {
    return krux::load_checked(file);
  } catch (const std::exception& e) {
    krux::CheckedPlugin refused;
    refused.problem = krux::printable(e.what());
    return refused;
  }
}

}  // namespace

int main(int argc, char** argv) {
  // Its configuration file is none of what this process may open.
  OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  const auto confinement = argc < 2 ? std::nullopt : krux::confinement_from(argc - 2, argv + 2);
  if (!confinement || !is_socket(krux::kChildSocket)) {
    constexpr std::string_view usage = "kruxos-plugin-runner is started by kruxosd, for an adapter's process.\n";
    return write(STDERR_FILENO, usage.data(), usage.size()) > 0 ? 2 : 3;
  }
  std::signal(SIGPIPE, SIG_IGN);
  tzset();  // reads a file, which the adapter's first look at the local time could not do any more
  const std::filesystem::path file = argv[1];
  const auto missing = krux::confine(*confinement, file.parent_path(), krux::kChildSocket);
  krux::runner::Link link(krux::kChildSocket);
  auto plugin = load(file);
  const auto unconfined = plugin.problem.empty() ? krux::confine_loaded() : std::string();
  if (missing.empty() && !unconfined.empty()) plugin.problem = unconfined;  // the host knows the others
  say_hello(link, plugin);
  if (!plugin.problem.empty()) _exit(1);
  // exit() in the adapter is the end, at once, by exit.cpp. Where the C library leaves by itself (errx()), it calls its
  // own exit(): this runs there before what the library has registered while it was loaded.
  on_exit([](int status, void*) { _exit(status); }, nullptr);
  std::set_new_handler(end_without_memory);
  auto& server = *new krux::runner::Server(link, *plugin.entry);
  server.run();
}
