#include "host/plugins/abi_bridge/log_limit.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "host/plugins/abi_bridge/limits.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

struct LimitedLog {
  std::int64_t now_ms = 5'000;
  std::vector<std::string> lines;
  LogLimit limit{[this](int, const std::string& service, const std::string&, std::string_view line) {
                   lines.push_back(service + " " + std::string(line));
                 },
                 {3, 20'000, 60'000},
                 [this] { return now_ms; }};
  void write(const std::string& service, const std::string& line) { limit.write(KRUX_LOG_INFO, service, "T1", line); }
};

}  // namespace

TEST_CASE("an adapter's log is held to a rate, and one line says how many were left out") {
  LimitedLog log;
  for (int i = 0; i < 2000; ++i) log.write("noisy", std::to_string(i));
  log.write("calm", "hello");
  CHECK(log.lines == std::vector<std::string>{"noisy 0", "noisy 1", "noisy 2", "calm hello"});
  log.limit.look();
  log.now_ms += 59'999;
  log.write("noisy", "still too much");
  CHECK(log.lines.size() == 4);
  log.now_ms += 1;
  SECTION("with the next line") {
    log.write("noisy", "again");
    REQUIRE(log.lines.size() == 6);
    CHECK(log.lines[5] == "noisy again");
  }
  SECTION("or when it is looked at") {
    log.limit.look();
    log.limit.look();
    REQUIRE(log.lines.size() == 5);
  }
  CHECK(log.lines[4] == "noisy 1998 lines of this adapter were left out: it may write 3 lines, or 19 KiB, in 60 s.");
}

TEST_CASE("an adapter's log is held to a number of bytes, and its lines to 8 KiB") {
  LimitedLog log;
  std::string wide(limits::kLongestLogLine - 1, 'a');
  wide += "\u00e9 and so on";
  log.write("noisy", wide);
  REQUIRE(log.lines.size() == 1);
  CHECK(log.lines[0] == "noisy " + std::string(limits::kLongestLogLine - 1, 'a'));
  log.write("noisy", std::string(60'000, 'b'));
  CHECK(log.lines.size() == 2);
  log.write("noisy", std::string(60'000, 'c'));
  CHECK(log.lines.size() == 2);
}

}  // namespace KRUXOS_TEST_FILE
