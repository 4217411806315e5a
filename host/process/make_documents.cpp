// Makes the documents that tell of the commands' options, or checks that they are as it would make them.
//   kruxos-documents [--check] ROOT
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "host/cli/documents.hpp"
#include "host/process/host_options.hpp"

namespace {

std::string bytes_of(const std::string& file) {
  std::ostringstream bytes;
  bytes << std::ifstream(file).rdbuf();
  return bytes.str();
}

/// False: it is not as it should be, or cannot be written.
bool make(const std::string& file, const std::string& text, bool only_check) {
  if (bytes_of(file) == text) return true;
  if (only_check) {
    std::fprintf(stderr, "%s does not tell of the commands as they are: scripts/documents makes it anew.\n",
                 file.c_str());
    return false;
  }
  std::ofstream out(file, std::ios::trunc);
  out << text << std::flush;
  if (!out) std::fprintf(stderr, "%s could not be written.\n", file.c_str());
  return out.good();
}

}  // namespace

int main(int count, char** values) {
  const bool check = count == 3 && std::string_view(values[1]) == "--check";
  if (count != (check ? 3 : 2)) {
    std::fputs("usage: kruxos-documents [--check] ROOT\n", stderr);
    return 2;
  }
  const std::string root = values[count - 1];
  CLI::App host;
  krux::HostCommandLine line;
  krux::add_host_options(host, line);
  const bool all[] = {make(root + "/docs/cli.md", krux::cli::command_document(), check),
                      make(root + "/docs/man/kruxos.1", krux::cli::command_manual(), check),
                      make(root + "/docs/man/kruxosd.8", krux::cli::host_manual(host), check)};
  return all[0] && all[1] && all[2] ? 0 : 1;
}
