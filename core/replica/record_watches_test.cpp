#include "core/replica/record_watches.hpp"

#include <catch2/catch.hpp>

#include "core/replica/replica_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

struct Rig {
  support::Scratch scratch;
  DrivenClock clock;
  std::shared_ptr<RecordWatches> watches = std::make_shared<RecordWatches>();
  std::vector<std::string> told;
  Replica replica{scratch.path() / "r.db", mail_collections(), clock};

  Rig() { replica.tell(watches, "mail"); }
  std::shared_ptr<void> watch(const std::string& collection, const std::string& id,
                              const std::string& service = "mail") {
    return watches->watch(service, {collection, id}, [this, collection, id] { told.push_back(collection + "/" + id); });
  }
  /// What is told of one commit, in any order.
  std::vector<std::string> commit(const std::function<void(SyncSession&)>& change) {
    told.clear();
    const auto session = replica.begin_session();
    change(*session);
    CHECK(told.empty());  // only what is committed is told
    session->commit();
    std::sort(told.begin(), told.end());
    return told;
  }
};

using Told = std::vector<std::string>;

}  // namespace

TEST_CASE("Who waits for a record is told once by each commit that changed it, and of nothing else") {
  Rig rig;
  const auto a = rig.watch("messages", "a"), twice = rig.watch("messages", "a"), other = rig.watch("people", "a");
  const auto elsewhere = rig.watch("messages", "a", "chat");
  CHECK(rig.commit([](SyncSession& s) {
    for (int i = 0; i < 5; ++i) s.put(message("a", 10, "text " + std::to_string(i)));
    s.put(message("b", 20, "another"));
  }) == Told{"messages/a", "messages/a"});
  CHECK(rig.commit([](SyncSession& s) { s.put(message("a", 10, "text 4")); }).empty());  // as it was
  CHECK(rig.commit([](SyncSession& s) { s.put(message("a", 11, "text 4")); }).size() == 2);
  CHECK(rig.commit([](SyncSession& s) { s.put(message("b", 20, "changed")); }).empty());
  CHECK(rig.commit([](SyncSession& s) { s.erase("messages", "a"); }).size() == 2);
  CHECK(rig.commit([](SyncSession& s) { s.erase("messages", "a"); }).empty());
}

TEST_CASE("A collection is watched whole, and what is swept is told as well") {
  Rig rig;
  const auto all = rig.watch("messages", "");
  CHECK(rig.commit([](SyncSession& s) {
    for (int i = 0; i < 20; ++i) s.put(message("m" + std::to_string(i), i, "text"));
  }) == Told{"messages/"});
  const auto one = rig.watch("messages", "m3");
  CHECK(rig.commit([](SyncSession& s) { s.sweep("messages", "general", 2, 0, 100); }) ==
        Told{"messages/", "messages/m3"});
}

TEST_CASE("What is waited for no more is not told, and costs nothing") {
  Rig rig;
  auto a = rig.watch("messages", "a");
  CHECK(rig.watches->any());
  a.reset();
  CHECK_FALSE(rig.watches->any());
  CHECK(rig.commit([](SyncSession& s) { s.put(message("a", 10, "text")); }).empty());
  {
    Rig dropped;
    const auto session = dropped.replica.begin_session();
    const auto b = dropped.watch("messages", "b");
    session->put(message("b", 10, "text"));
    session->close();
    CHECK_THROWS(session->commit());
    CHECK(dropped.told.empty());
  }
}

}  // namespace KRUXOS_TEST_FILE
