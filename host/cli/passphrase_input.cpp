#include "host/cli/passphrase_input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/util/descriptor.hpp"
#include "core/util/text.hpp"
#include "host/cli/control_client.hpp"

namespace krux::cli {
namespace {

constexpr std::size_t kLongest = 4096;

/// Byte by byte, so that a pipe's further lines stay where they are.
SecretBytes first_line(int fd) {
  SecretBytes line;
  char c = 0;
  while (line.size() < kLongest && ::read(fd, &c, 1) == 1 && c != '\n') line.push_back(c);
  c = 0;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

SecretBytes from_file(const std::filesystem::path& file) {
  const auto name = printable(file.string());
  const Descriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (fd.get() < 0 || ::fstat(fd.get(), &info) != 0)
    throw CliError(kUsage, fmt::format("The passphrase file \"{}\" cannot be read: {}.", name,
                                       std::generic_category().message(errno)));
  if (S_ISREG(info.st_mode) && (info.st_mode & 077) != 0)
    throw CliError(kUsage, fmt::format("Others can read the passphrase in \"{0}\". Run: chmod 600 '{0}'", name));
  auto line = first_line(fd.get());
  if (line.empty()) throw CliError(kUsage, fmt::format("There is no passphrase in \"{}\".", name));
  return line;
}

}  // namespace

SecretBytes ask_passphrase(Console& console, const std::string& prompt) {
  auto secret = console.read_secret(prompt);
  if (secret.empty())
    throw CliError(kUsage, "No passphrase was given; nothing was changed. Give it on standard input, one a line.");
  return secret;
}

SecretBytes ask_new_passphrase(Console& console) {
  auto wanted = ask_passphrase(console, "New passphrase (not shown while you type): ");
  if (!console.reads_terminal()) return wanted;
  if (as_view(ask_passphrase(console, "The same again: ")) != as_view(wanted))
    throw CliError(kFailed, "The two are not the same; nothing was changed.");
  return wanted;
}

SecretBytes operators_passphrase(Console& console, const std::filesystem::path& file, const std::string& name) {
  if (!file.empty()) return from_file(file);
  if (!console.reads_terminal())
    throw CliError(kUsage,
                   "This needs the operator's passphrase, and there is no terminal to ask on: give --passphrase-file "
                   "FILE, which may be a pipe such as /dev/fd/3. Nothing was done.");
  const auto whose = name.empty() ? std::string("Operator's passphrase") : "Passphrase of operator " + printable(name);
  auto secret = console.read_secret(whose + " (not shown while you type): ");
  if (secret.empty()) throw CliError(kFailed, "No passphrase was given. Nothing was done.");
  return secret;
}

}  // namespace krux::cli
