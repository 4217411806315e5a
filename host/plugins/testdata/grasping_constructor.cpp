// Its static constructor runs before anybody has agreed to it, and tries everything. Its description says what came of
// it; "NAME.key" beside its directory is what it looks for.
#include <arpa/inet.h>
#include <dlfcn.h>

#include <string>

#include "attacks.hpp"
#include "entry.hpp"
#include "hoards.hpp"

extern "C" const krux_plugin_entry KRUX_ENTRY;

namespace {

std::string directory() {
  Dl_info info{};
  dladdr(&KRUX_ENTRY, &info);
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/'));
}

/// To the port whose number stands in the file "port" of its own directory, which it may read.
long connect_out() {
  char text[8] = {};
  const int file = open((directory() + "/port").c_str(), O_RDONLY);
  if (file < 0 || read(file, text, sizeof(text) - 1) <= 0) return 0;
  close(file);
  const int out = socket(AF_INET, SOCK_STREAM, 0);
  if (out < 0) return -1;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<in_port_t>(std::stoi(text)));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connect(out, reinterpret_cast<const sockaddr*>(&to), sizeof(to));
}

std::string grasp() {
  attacks::Tries network;
  network.add("connect out", connect_out());
  network.add("the host's connections", open("/proc/self/net/tcp", O_RDONLY));
  network.add("mounts", open("/proc/self/mountinfo", O_RDONLY));
  return R"({"collections":[],"network":)" + network.json() + R"(,"tries":)" + attacks::all(directory() + ".key") +
         R"(,"threads":)" + std::to_string(attacks::threads_to_be_had(2000)) + "}";
}

const std::string found = grasp();

krux_status describe(const krux_sink* out) noexcept {
  return out->write(out->self, {found.data(), found.size()}) == 0 ? KRUX_OK : KRUX_INTERNAL;
}

}  // namespace

BROKEN_PLUGIN(KRUX_MAGIC, sizeof(krux_plugin_entry), "grasping", "grasping", "1.0.0", &describe);
