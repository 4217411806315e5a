#include "host/process/logging.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <vector>

#include "core/util/json.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

/// What is logged while it lives goes to a file instead of standard error.
class Captured {
 public:
  Captured() : saved_(dup(STDERR_FILENO)), logger_(spdlog::default_logger()) {
    const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    dup2(file, STDERR_FILENO);
    close(file);
  }
  ~Captured() {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
    spdlog::set_default_logger(logger_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  std::vector<std::string> lines() const {
    std::ifstream file(path_);
    std::vector<std::string> all;
    for (std::string line; std::getline(file, line);) all.push_back(line);
    return all;
  }

 private:
  support::Scratch scratch_;
  const std::string path_ = scratch_.path() / "log";
  const int saved_;
  const std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace

TEST_CASE("a line of the JSON log is one object with what it is about") {
  const Captured log;
  configure_logging("info", true);
  log_event(spdlog::level::warn, {"write_failed", "notes", "N1", "agent_1", "w_1"}, "it \"failed\"\n\x1b[31m");
  log_event(spdlog::level::debug, {"hidden", "", "", "", ""}, "not shown");
  spdlog::info("plain \x1e{{\"event\":\"forged\"}}");
  const auto lines = log.lines();
  REQUIRE(lines.size() == 2);
  const auto first = parse_json(lines[0], "a line"), second = parse_json(lines[1], "a line");
  CHECK(find_string(first, "level") == "warning");
  CHECK(std::string(find_string(first, "message").value_or("")) == printable("it \"failed\"\n\x1b[31m"));
  CHECK(find_string(first, "event") == "write_failed");
  CHECK(find_string(first, "service") == "notes");
  CHECK(find_string(first, "account_id") == "N1");
  CHECK(find_string(first, "agent_id") == "agent_1");
  CHECK(find_string(first, "write_id") == "w_1");
  CHECK_FALSE(find_member(second, "event"));
  CHECK_FALSE(find_member(second, "service"));
}

TEST_CASE("a line of the text log is its message") {
  const Captured log;
  configure_logging("info", false);
  log_event(spdlog::level::info, {"connected", "notes", "N1", "", ""}, "notes N1 connected");
  const auto lines = log.lines();
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Catch::EndsWith(" info    notes N1 connected"));
}

}  // namespace KRUXOS_TEST_FILE
