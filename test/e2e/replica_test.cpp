// Replicas beside what their services have: `kruxos replica verify` and `rebuild`.
#include <sqlite3.h>

#include <algorithm>
#include <future>

#include "gmail_rig.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

struct Compared : GmailRig {
  explicit Compared(RigOptions options = either_isolation()) : GmailRig(options) {}

  HttpReply ask(const std::string& what, const std::string& body) {
    auto asked = std::async(std::launch::async, [&] { return control("POST", "/replicas/gmail/" + what, body); });
    REQUIRE(pass_time([&] { return asked.wait_for(milliseconds(0)) == std::future_status::ready; }));
    return asked.get();
  }
  Json verify(const std::string& body = R"({"records":0})") {
    const auto answer = ask("verify", body);
    INFO(answer.body);
    REQUIRE(answer.status == 200);
    return parse(answer.body);
  }
  static std::vector<std::string> named(const Json& verified) {
    std::vector<std::string> all;
    for (const auto& d : find_at(verified, "/differences")->GetArray())
      all.push_back(text_at(d, "/id") + " " + text_at(d, "/kind"));
    std::sort(all.begin(), all.end());
    return all;
  }
  /// The host is down.
  void damage(const std::vector<std::string>& statements) {
    for (const auto& entry : std::filesystem::directory_iterator(data() / "replica/gmail")) {
      if (entry.path().extension() != ".db") continue;
      sqlite3* db = nullptr;
      REQUIRE(sqlite3_open(entry.path().c_str(), &db) == SQLITE_OK);
      for (const auto& statement : statements)
        CHECK(sqlite3_exec(db, statement.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
      sqlite3_close(db);
    }
  }
  bool is_tidy() const {
    return std::none_of(std::filesystem::directory_iterator(data()), std::filesystem::directory_iterator(),
                        [](const auto& entry) { return entry.path().filename().string().starts_with("verify"); });
  }
};

}  // namespace

TEST_CASE("a replica that has what the mailbox has differs in nothing, also while the mailbox changes") {
  Compared rig;
  rig.begin();
  auto verified = rig.verify();
  CHECK(bool_at(verified, "/whole"));
  CHECK(number_at(verified, "/compared") >= 3);
  CHECK(number_at(verified, "/differ") == 0);
  CHECK(rig.is_tidy());
  rig.deliver("New since then");
  verified = rig.verify();
  CHECK(number_at(verified, "/differ") == 0);
  verified = rig.verify(R"({"records":1,"minutes":5})");
  CHECK(number_at(verified, "/differ") == 0);
  CHECK(number_at(verified, "/compared") >= 1);
  CHECK(rig.is_true());
  rig.check_contract();
}

TEST_CASE("what a replica lacks and has otherwise is named, and a rebuild mends it") {
  Compared rig;
  rig.begin();
  const auto fresh = rig.deliver("To be lost");
  REQUIRE(rig.pass_time([&] { return rig.is_true(); }));
  REQUIRE(rig.stop().ok());
  const auto whose = [](const std::string& id) { return "(SELECT key FROM c_messages WHERE id = '" + id + "')"; };
  rig.damage({"DELETE FROM s_messages WHERE key = " + whose(fresh), "DELETE FROM c_messages WHERE id = '" + fresh + "'",
              "UPDATE s_messages SET digest = zeroblob(16) WHERE key = " + whose(rig.bridge)});
  rig.start();
  auto verified = rig.verify();
  std::vector<std::string> expected{fresh + " missing", rig.bridge + " other"};
  std::sort(expected.begin(), expected.end());
  CHECK(Compared::named(verified) == expected);
  // As a person sees it.
  auto seen = std::async(std::launch::async, [&] { return rig.kruxos({"replica", "verify", "gmail", "--all"}); });
  REQUIRE(rig.pass_time([&] { return seen.wait_for(milliseconds(0)) == std::future_status::ready; }));
  const auto shown = seen.get();
  CHECK(shown.status.code == 1);
  INFO(shown.out);
  CHECK(shown.out.find("2 differ:") != std::string::npos);
  CHECK(shown.out.find("missing here") != std::string::npos);
  CHECK(rig.kruxos({"replica", "rebuild", "gmail"}).status.ok());
  REQUIRE(rig.pass_time([&] { return rig.is_true(); }));
  CHECK(number_at(rig.verify(), "/differ") == 0);
}

TEST_CASE("what cannot be compared is refused with a sentence") {
  Compared rig{{}};
  rig.start();
  CHECK(rig.control("POST", "/replicas/gmail/verify", "{}").status == 409);
  CHECK(rig.control("POST", "/replicas/gmial/verify", "{}").status == 404);
  CHECK(rig.control("POST", "/replicas/gmail/rebuild", "{}").status == 409);
}

}  // namespace KRUXOS_TEST_FILE
