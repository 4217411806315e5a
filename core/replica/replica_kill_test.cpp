// A process that commits pages is killed at random points: rows and cursor always agree.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "core/replica/replica_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

constexpr int kPage = 20;

/// Commits page after page, each with its number as cursor, and says so on `out`; never returns.
[[noreturn]] void sync_for_ever(const std::filesystem::path& file, int out) {
  DrivenClock clock;
  Replica store(file, mail_collections(), clock);
  auto session = store.begin_session();
  const auto cursor = session->cursor("page");
  for (int page = cursor ? std::stoi(*cursor) + 1 : 0;; ++page) {
    for (int i = 0; i < kPage; ++i) {
      const int n = page * kPage + i;
      session->put(message(std::to_string(n), n, "the text of number " + std::to_string(n), "general", page + 1));
    }
    if (page >= 3) session->sweep("messages", "general", page - 1, 0, INT64_MAX);
    static constexpr char byte = 'x';
    session->put_blob("messages", std::to_string(page * kPage), "body", -1,
                      [sent = false](char* to, std::size_t) mutable {
                        *to = byte;
                        return std::exchange(sent, true) ? 0 : 1;
                      });
    session->set_cursor("page", std::to_string(page));
    session->commit();
    if (::write(out, &byte, 1) != 1) ::_exit(1);
  }
}

constexpr int kPagesOfAVersion = 5;

/// Builds one version after the other, and says so on `out` when one is whole; never returns.
[[noreturn]] void build_for_ever(const std::filesystem::path& file, int version, int out) {
  DrivenClock clock;
  for (;; ++version) {
    Replica store(file, mail_collections(version), clock);
    auto session = store.begin_session();
    const auto cursor = session->cursor("page");
    for (int page = cursor ? std::stoi(*cursor) : 0; page < kPagesOfAVersion; ++page) {
      for (int i = 0; i < kPage; ++i) {
        const int n = page * kPage + i;
        auto record = message(std::to_string(n), n, "version" + std::to_string(version));
        record.json = "{\"v\":" + std::to_string(version) + "}";
        session->put(std::move(record));
      }
      session->set_cursor("page", std::to_string(page + 1));
      session->commit();
    }
    store.finish_pass(true, version * 1000);
    store.idle();
    static constexpr char byte = 'x';
    if (::write(out, &byte, 1) != 1) ::_exit(1);
  }
}

/// Runs `child` with the end of a pipe that it says on what is done, kills it `pause_us` after it has said `wanted`
/// bytes, and returns how many it had said.
template <class Child>
int killed_after(Child child, int wanted, useconds_t pause_us) {
  int pipe_ends[2];
  REQUIRE(::pipe(pipe_ends) == 0);
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    ::close(pipe_ends[0]);
    child(pipe_ends[1]);
  }
  ::close(pipe_ends[1]);
  char byte = 0;
  int said = 0;
  while (said < wanted && ::read(pipe_ends[0], &byte, 1) == 1) ++said;
  ::usleep(pause_us);
  ::kill(pid, SIGKILL);
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  REQUIRE(WIFSIGNALED(status));
  while (::read(pipe_ends[0], &byte, 1) == 1) ++said;
  ::close(pipe_ends[0]);
  return said;
}

}  // namespace

TEST_CASE("killed at any moment while versions are built, what is read is one of them, whole") {
  support::Scratch scratch;
  const auto file = scratch.path() / "T1.db";
  std::mt19937 random(815);
  int whole = 0;
  for (int round = 0; round < 25; ++round) {
    whole += killed_after([&](int out) { build_for_ever(file, whole + 1, out); }, static_cast<int>(random() % 2),
                          static_cast<useconds_t>(random() % 20'000));
    DrivenClock clock;
    Replica store(file, mail_collections(whole + 1), clock);
    const auto reader = store.reader();
    std::set<std::string> versions;
    const auto answer = reader->query(messages_where({}), [&](const RowView& row) {
      versions.emplace(row.json);
      return true;
    });
    const auto through = reader->freshness().complete_through_ms;
    if (through == 0) {
      REQUIRE(whole == 0);
      continue;
    }
    REQUIRE(versions == std::set<std::string>{"{\"v\":" + std::to_string(through / 1000) + "}"});
    REQUIRE(answer.total == kPage * kPagesOfAVersion);
    // What it had not said yet may be done.
    REQUIRE((through / 1000 == whole || through / 1000 == whole + 1));
  }
  CHECK(whole > 3);
}

TEST_CASE("killed at any moment, a sync resumes where it was") {
  support::Scratch scratch;
  const auto file = scratch.path() / "T1.db";
  std::mt19937 random(4711);
  int last_acknowledged = -1;
  for (int round = 0; round < 25; ++round) {
    int pipe_ends[2];
    REQUIRE(::pipe(pipe_ends) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::close(pipe_ends[0]);
      sync_for_ever(file, pipe_ends[1]);
    }
    ::close(pipe_ends[1]);
    char byte = 0;
    int acknowledged = 0;
    for (auto wanted = random() % 12; wanted > 0 && ::read(pipe_ends[0], &byte, 1) == 1; --wanted) ++acknowledged;
    ::usleep(static_cast<useconds_t>(random() % 4000));  // some point within the next page
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    while (::read(pipe_ends[0], &byte, 1) == 1) ++acknowledged;
    ::close(pipe_ends[0]);

    DrivenClock clock;
    Replica store(file, mail_collections(), clock);
    const auto cursor = store.begin_session()->cursor("page");
    const int page = cursor ? std::stoi(*cursor) : -1;
    REQUIRE(page >= last_acknowledged + acknowledged);
    last_acknowledged = page;
    const int first = page >= 3 ? page - 2 : 0;  // what the sweep of that page has left
    REQUIRE(store.counts().at("messages") == (page < 0 ? 0 : (page - first + 1) * kPage));
    auto reader = store.reader();
    auto query = messages_where(text_is("number"));
    query.limit = 1;
    const auto answer = ask(*reader, query);
    REQUIRE(answer.result.total == static_cast<std::uint64_t>(store.counts().at("messages")));
    if (page >= 0) {
      REQUIRE(answer.ids == std::vector<std::string>{std::to_string(page * kPage + kPage - 1)});
      REQUIRE(reader->blob("messages", std::to_string(page * kPage), "body", [](std::string_view) { return true; }));
    }
    check_index(file);
  }
  CHECK(last_acknowledged > 25);
}

}  // namespace KRUXOS_TEST_FILE
