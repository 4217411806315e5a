// notmuch and mu, where they are installed: what others take to make the same mails searchable.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace krux::bench {

/// A program that makes an index of a Maildir from nothing.
struct MailIndexer {
  std::string name;
  std::vector<std::string> prepare;  ///< not timed; may be empty
  std::vector<std::string> index, count;
};

/// `maildir` is there; what the programs write goes below `directory`.
std::vector<MailIndexer> mail_indexers(const std::filesystem::path& maildir, const std::filesystem::path& directory);

bool is_installed(const std::string& program);

struct Indexed {
  double seconds = 0, cpu_seconds = 0;
};
/// Wrong() unless it knows `mails` mails afterwards.
Indexed run_indexer(const MailIndexer& indexer, std::int64_t mails);

}  // namespace krux::bench
