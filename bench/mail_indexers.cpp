#include "bench/mail_indexers.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "bench/report.hpp"
#include "support/process.hpp"

namespace krux::bench {
namespace {

namespace fs = std::filesystem;

double children_cpu_s() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

std::string run_to_end(const std::vector<std::string>& argv) {
  test::Command command;
  command.argv = argv;
  const auto done = test::run(command, test::milliseconds(1'800'000));
  if (!done.status.ok()) wrong(argv[0] + " failed: " + done.out + done.err);
  return done.out;
}

}  // namespace

bool is_installed(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::stringstream directories(path ? path : "");
  for (std::string directory; std::getline(directories, directory, ':');) {
    if (::access((fs::path(directory) / program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::vector<MailIndexer> mail_indexers(const fs::path& maildir, const fs::path& directory) {
  const auto config = directory / "notmuch.config", home = directory / "mu";
  std::ofstream(config) << "[database]\npath=" << maildir.string() << "\nhook_dir=" << directory.string()
                        << "\n[user]\nname=Agent\nprimary_email=agent@example.com\n"
                           "[new]\ntags=unread;inbox;\n[maildir]\nsynchronize_flags=true\n";
  const std::vector<std::string> notmuch = {"notmuch", "--config=" + config.string()};
  const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const std::string mu_home = "--muhome=" + home.string();
  return {{"notmuch", {}, with(notmuch, {"new", "--quiet"}), with(notmuch, {"count", "*"})},
          {"mu",
           {"mu", "init", mu_home, "--maildir=" + maildir.string(), "--my-address=agent@example.com", "--quiet"},
           {"mu", "index", mu_home, "--quiet"},
           {"mu", "find", mu_home, "--fields=i", "--skip-dups", "maildir:/"}}};
}

Indexed run_indexer(const MailIndexer& indexer, std::int64_t mails) {
  if (!indexer.prepare.empty()) run_to_end(indexer.prepare);
  const auto cpu = children_cpu_s(), start = now_s();
  run_to_end(indexer.index);
  const Indexed took{now_s() - start, children_cpu_s() - cpu};
  const auto said = run_to_end(indexer.count);
  // One number, or a line for each.
  std::int64_t known = 0;
  for (const char c : said) known += c == '\n';
  if (known == 1 && mails != 1) known = std::stoll(said);
  if (known != mails) wrong(indexer.name + " knows " + std::to_string(known) + " mails");
  return took;
}

}  // namespace krux::bench
