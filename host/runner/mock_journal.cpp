#include "host/runner/mock_journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "core/util/descriptor.hpp"

namespace krux {
namespace {

constexpr std::string_view kMark = "kruxos-mock-journal";
constexpr std::size_t kLongestEntry = 16 << 20;

struct Journal {
  explicit Journal(std::filesystem::path where) : file(std::move(where)) {}
  const std::filesystem::path file;
  std::mutex mutex;
  std::string entry;  ///< as far as it was said

  /// Of the message behind the mark: "+PIECE", "." before the last one. False: the file cannot be written.
  bool take(std::string_view said) {
    const std::lock_guard lock(mutex);
    if (said.empty() || entry.size() > kLongestEntry) return true;
    entry += said.substr(1);
    if (said.front() == '+') return true;
    const auto whole = std::exchange(entry, {}) + "\n";
    const Descriptor out(::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    return out.get() >= 0 && ::write(out.get(), whole.data(), whole.size()) == static_cast<ssize_t>(whole.size()) &&
           ::fdatasync(out.get()) == 0;
  }
};

}  // namespace

AdapterLog with_mock_journal(const std::filesystem::path& library, AdapterLog log) {
  auto file = library;
  const auto journal = std::make_shared<Journal>(file.replace_extension(".mock.json.journal"));
  return [journal, log = std::move(log)](int level, const std::string& service, const std::string& account_id,
                                         std::string_view line) {
    if (!line.starts_with(kMark)) return log(level, service, account_id, line);
    if (!journal->take(line.substr(kMark.size())))
      log(level, service, account_id,
          fmt::format("{} cannot be written: {}.", journal->file.string(), std::strerror(errno)));
  };
}

}  // namespace krux
