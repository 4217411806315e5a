// A process that commits pages is killed at random points: rows and cursor always agree.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <random>

#include "core/replica/replica_fixture.hpp"

using namespace krux;
using namespace krux::test;

namespace {

constexpr int kPage = 20;

/// Commits page after page, each with its number as cursor, and says so on `out`; never returns.
[[noreturn]] void sync_for_ever(const std::filesystem::path& file, int out) {
  DrivenClock clock;
  SyncStore store(file, mail_collections(), clock);
  auto session = store.begin_session();
  const auto cursor = session->cursor("page");
  for (int page = cursor ? std::stoi(*cursor) + 1 : 0;; ++page) {
    for (int i = 0; i < kPage; ++i) {
      const int n = page * kPage + i;
      session->put(message(std::to_string(n), n, "the text of number " + std::to_string(n), "general", page + 1));
    }
    if (page >= 3) session->sweep("messages", "general", page - 1, 0, INT64_MAX);
    const char byte = 'x';
    session->put_blob("messages", std::to_string(page * kPage), "body", -1,
                      [sent = false, byte](char* to, std::size_t) mutable {
                        *to = byte;
                        return std::exchange(sent, true) ? 0 : 1;
                      });
    session->set_cursor("page", std::to_string(page));
    session->commit();
    if (::write(out, &byte, 1) != 1) ::_exit(1);
  }
}

}  // namespace

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
    SyncStore store(file, mail_collections(), clock);
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
