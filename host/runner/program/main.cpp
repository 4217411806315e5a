// kruxos-plugin-runner PLUGIN MEMORY_MB OPEN_FILES: loads one adapter and answers kruxosd's calls on descriptor 3.
// kruxosd starts it; docs/isolation.md says what passes between them.
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <vector>

#include "core/util/text.hpp"
#include "host/plugins/checked_load.hpp"
#include "host/runner/program/confine.hpp"
#include "host/runner/program/server.hpp"

namespace {

constexpr int kSocket = 3;

bool is_socket(int fd) {
  struct stat info {};
  return fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode);
}

void add(std::vector<std::string>& notes, std::string note) {
  if (!note.empty()) notes.push_back(std::move(note));
}

void say_hello(krux::runner::Link& link, const krux::CheckedPlugin& plugin, const std::vector<std::string>& notes) {
  krux::WireWriter hello;
  hello.u32(krux::kWireVersion).text(plugin.problem).text(plugin.info.service).text(plugin.info.prefix);
  hello.text(plugin.info.version).text(plugin.sha256).u32(static_cast<std::uint32_t>(notes.size()));
  for (const auto& note : notes) hello.text(note);
  link.send(krux::FrameKind::kHello, 0, 0, hello.bytes());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 || !is_socket(kSocket)) {
    constexpr std::string_view usage = "kruxos-plugin-runner is started by kruxosd, for an adapter's process.\n";
    return write(STDERR_FILENO, usage.data(), usage.size()) > 0 ? 2 : 3;
  }
  krux::give_up_privileges({std::atoll(argv[2]), std::atoll(argv[3])}, kSocket + 1);
  std::signal(SIGPIPE, SIG_IGN);
  tzset();  // reads a file, which the adapter's first look at the local time could not do any more
  const std::filesystem::path file = argv[1];
  std::vector<std::string> notes;
  add(notes, krux::hide_files(file.parent_path()));
  const auto unfiltered = krux::filter_system_calls(krux::Filter::kLoading);
  add(notes, unfiltered);
  krux::runner::Link link(kSocket);
  krux::CheckedPlugin plugin;
  try {
    plugin = krux::load_checked(file);
  } catch (const std::exception& e) {
    plugin.problem = krux::printable(e.what());
  }
  if (plugin.problem.empty() && unfiltered.empty()) add(notes, krux::filter_system_calls(krux::Filter::kLoaded));
  say_hello(link, plugin, notes);
  if (!plugin.problem.empty()) _exit(1);
  static krux::runner::Server server(link, *plugin.entry);
  server.run();
}
