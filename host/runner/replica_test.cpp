// Adapters in processes of their own, and a replica that is one: what the boundary's 1.2 adds to reader, store and
// account arrives there as it does in the host's own process.
#include <signal.h>

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "core/replica/replica.hpp"
#include "host/plugins/testdata/runner_rig.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using test::failed;
using test::good;

namespace {

struct Rig : test::RunnerRig {
  support::Scratch scratch;
  Replica replica{scratch.path() / "replica.db", registry.find("mock")->collections, clock};
  Rig() { adapter = make("T1", {}, {}); }
  ~Rig() { adapter.reset(); }

  std::shared_ptr<ServiceAdapter> make(const std::string& account, const std::string& base_url,
                                       const std::map<std::string, std::string>& settings) {
    return factory->make({"mock", account, 1, std::nullopt, "{}", http, nullptr, base_url, settings});
  }
  /// The adapter's own steps, told apart by when the last sync was; what it has left open is committed.
  void sync(std::int64_t step) {
    const auto session = replica.begin_session();
    good(adapter->ask<"incremental_sync">(call(), session, step));
    session->commit();
  }
  std::string row(const std::string& id) {
    std::string json;
    replica.filled_reader()->get("items", id, [&](const RowView& row) {
      json = row.json;
      return true;
    });
    return json;
  }
  std::string blob(const std::string& id, const std::string& name) {
    std::string bytes;
    replica.filled_reader()->blob("items", id, name, [&](std::string_view part) {
      bytes += part;
      return true;
    });
    return bytes;
  }
};

}  // namespace

TEST_CASE("A runner's sync is told what a real replica does not take") {
  Rig rig;
  rig.sync(9);
  CHECK(rig.row("{}") == "{}");
  CHECK(rig.row("oops").empty());
  CHECK(rig.replica.state().left_out == 1);
  const auto problems = rig.replica.problems();
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems[0].message, Catch::StartsWith("taken;its json") &&
                                      Catch::EndsWith("its JSON has 2097160 bytes, at most 1048576 are possible"));
  CHECK(rig.pid_of("mock") > 0);
}

TEST_CASE("A runner's sync erases a blob of a real replica") {
  Rig rig;
  good(rig.adapter->ask<"full_sync">(rig.call(), rig.replica.begin_session()));
  rig.sync(6);
  CHECK(rig.blob("i1", "raw") == "blob");
  rig.sync(10);
  CHECK(rig.blob("i1", "raw").empty());
  CHECK(rig.row("i1") == R"({"id":"i1"})");
}

TEST_CASE("A runner's fetching read puts into a real replica what it lacks") {
  Rig rig;
  good(rig.adapter->ask<"full_sync">(rig.call(), rig.replica.begin_session()));
  rig.replica.finish_pass(true, 0);
  const auto put = [&](const ReaderPtr& reader, const char* id) {
    return rig.adapter->ask<"read">(rig.call(), reader, "mock.put", id);
  };
  CHECK(failed(put(rig.replica.reader(), "n1")).status == KRUX_UNSUPPORTED);
  CHECK(rig.row("n1").empty());
  const auto reader = rig.replica.fetching_reader();
  CHECK(good(put(reader, "n1")) == R"({"taken":true,"why":""})");
  CHECK(rig.row("n1") == R"({"fetched":true})");
  CHECK(good(put(reader, "i1")) == R"({"taken":true,"why":""})");
  CHECK(rig.row("i1") == R"({"id":"i1"})");
  CHECK(good(put(reader, "large")) ==
        R"({"taken":false,"why":"its JSON has 2097160 bytes, at most 1048576 are possible"})");
  CHECK(rig.row("large").empty());
  CHECK(failed(put(reader, "undeclared")).status == KRUX_INVALID);
}

TEST_CASE("Each account of a runner has its own address and settings, also in the next process") {
  Rig rig;
  const auto one = rig.make("T1", "https://one.notes.example/", {{"region", "eu"}});
  const auto two = rig.make("T2", "https://two.notes.example/", {{"region", "us"}, {"user", "amy \"a\""}});
  const auto own = [&](const std::shared_ptr<ServiceAdapter>& adapter) {
    return adapter->ask<"read">(rig.call(), rig.reader, "mock.own", "{}");
  };
  const auto each_has_its_own = [&] {
    CHECK(good(own(one)) == R"({"base_url":"https://one.notes.example/","settings":{"region":"eu"}})");
    CHECK(good(own(two)) ==
          R"({"base_url":"https://two.notes.example/","settings":{"region":"us","user":"amy \"a\""}})");
  };
  each_has_its_own();
  const auto first = rig.pid_of("mock");
  REQUIRE(kill(first, SIGKILL) == 0);
  // Its process is gone before the runner has counted the end, from which the wait for the next one begins.
  while (rig.runners->find("mock")->status().last_end.empty()) std::this_thread::yield();
  rig.wait_out();
  each_has_its_own();
  CHECK(rig.pid_of("mock") != first);
}

}  // namespace KRUXOS_TEST_FILE
