// kruxos-plugin-probe FILE CONFINEMENT...: loads one plugin, asks what it says of itself, and writes that to descriptor
// 3 as lines with one JSON object each: {"problem": "..."}, or {"service", "prefix", "version", "abi_minor",
// "describe"} with the description as a string, and then what check_tables() says of an adapter that it has made.
// kruxosd and kruxos start it and expect it to crash or hang; it is confined as a runner is.
#include <openssl/crypto.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>

#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "host/plugins/checked_load.hpp"
#include "host/plugins/table_check.hpp"
#include "host/sandbox/confine.hpp"
#include "host/sandbox/confined_child.hpp"

namespace {

constexpr std::size_t kLargestDescription = 256 * 1024, kLongestReason = 1000;

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto put = write(fd, text.data(), text.size());
    if (put <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

std::string problem_json(std::string_view problem) {
  return "{\"problem\":" + krux::json_string(problem) + "}";
}

krux_status describe(const krux_plugin_entry& entry, std::string& out) {
  const krux_sink sink{&out, [](void* self, krux_str bytes) noexcept -> int32_t {
                         auto& text = *static_cast<std::string*>(self);
                         if (bytes.len > kLargestDescription - text.size()) return 1;
                         text.append(bytes.ptr, bytes.len);
                         return 0;
                       }};
  return entry.describe(&sink);
}

std::string undescribed(const std::string& why) {
  if (why.empty()) return "It could not describe itself, and did not say why: its describe() failed.";
  return "It could not describe itself: " + krux::printable(why.substr(0, kLongestReason));
}

bool write_line(const std::string& line) {
  return write_all(krux::kChildSocket, line + "\n");
}

/// False: nobody reads it.
bool probe(const char* path) {
  const auto plugin = krux::load_checked(path);
  if (!plugin.problem.empty()) return write_line(problem_json(plugin.problem));
  const auto& info = plugin.info;
  std::string description;
  const auto status = describe(*plugin.entry, description);
  if (!krux::is_valid_utf8(description)) return write_line(problem_json("Its description is not valid UTF-8."));
  if (status == KRUX_CANCELLED) return write_line(problem_json("Its description is larger than 256 KiB."));
  if (status != KRUX_OK) return write_line(problem_json(undescribed(description)));
  const bool written = write_line(
      "{\"service\":" + krux::json_string(info.service) + ",\"prefix\":" + krux::json_string(info.prefix) +
      ",\"version\":" + krux::json_string(info.version) + ",\"abi_minor\":" + std::to_string(info.abi_minor) +
      ",\"describe\":" + krux::json_string(description) + "}");
  return written && write_line(krux::to_json(krux::check_tables(*plugin.entry, description)));
}

}  // namespace

int main(int argc, char** argv) {
  // Its configuration file is none of what this process may open.
  OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  const auto confinement = argc < 2 ? std::nullopt : krux::confinement_from(argc - 2, argv + 2);
  if (!confinement) {
    constexpr std::string_view usage = "kruxos-plugin-probe is started by kruxosd and kruxos, to look at an adapter.\n";
    return write_all(STDERR_FILENO, usage) ? 2 : 3;
  }
  std::signal(SIGPIPE, SIG_IGN);
  krux::confine(*confinement, std::filesystem::path(argv[1]).parent_path(), krux::kChildSocket);
  bool written = false;
  try {
    written = probe(argv[1]);
  } catch (const std::exception& e) {
    written = write_line(problem_json(krux::printable(e.what())));
  }
  _exit(written ? 0 : 3);  // without the plugin's static destructors: the answer is out
}
