// Labels of messages from lists of messages by label.
#include "memberships.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using gmail::Memberships;
using Labels = std::vector<std::string>;

namespace {

Memberships lists() {
  Memberships m;
  m.begin({"INBOX", "UNREAD", "Label_1"});
  m.add("a");
  m.turn("page");
  m.add("b");
  m.turn("");
  m.add("b");
  m.turn("");
  m.turn("");
  return m;
}
Labels corrected(Memberships& m, const std::string& id, Labels labels) {
  CHECK(m.correct(id, labels));
  return labels;
}

}  // namespace

TEST_CASE("labels become those of the lists") {
  auto m = lists();
  REQUIRE(m.whole());
  CHECK(corrected(m, "a", {"Label_1"}) == Labels{"INBOX"});
  CHECK(corrected(m, "b", {}) == Labels{"INBOX", "UNREAD"});
  CHECK(corrected(m, "c", {"INBOX"}).empty());
}

TEST_CASE("a label without a list is left as it was") {
  auto m = lists();
  CHECK(corrected(m, "a", {"Label_2"}) == Labels{"INBOX", "Label_2"});
  m.begin({"INBOX", "CHAT"});
  m.add("a");
  m.turn("");
  m.add("a");
  m.skip();
  REQUIRE(m.whole());
  CHECK(corrected(m, "a", {}) == Labels{"INBOX"});
  CHECK(corrected(m, "b", {"CHAT"}) == Labels{"CHAT"});
}

TEST_CASE("what the history has said since wins over the lists") {
  auto m = lists();
  m.changed("a", "INBOX", false);
  m.changed("a", "UNREAD", true);
  m.changed("b", "UNREAD", false);
  m.changed("b", "UNREAD", true);
  CHECK(corrected(m, "a", {}) == Labels{"UNREAD"});
  CHECK(corrected(m, "b", {}) == Labels{"INBOX", "UNREAD"});
}

TEST_CASE("a message that was fetched since keeps what it came with") {
  auto m = lists();
  m.fetched("a");
  CHECK(corrected(m, "a", {"SENT"}) == Labels{"SENT"});
}

TEST_CASE("a list of several pages is not trusted for what it lacks once others were taken out of it") {
  auto m = lists();  // INBOX has two pages, UNREAD one
  Labels labels{"INBOX", "UNREAD"};
  m.changed("x", "UNREAD", false);
  CHECK(corrected(m, "c", labels).empty());
  m.changed("x", "INBOX", false);
  CHECK_FALSE(m.correct("c", labels));
  CHECK(labels == Labels{"INBOX", "UNREAD"});
  CHECK(corrected(m, "a", {"INBOX"}) == Labels{"INBOX"});
  auto other = lists();
  other.deleted();
  CHECK_FALSE(other.correct("c", labels));
  CHECK(corrected(other, "c", {"UNREAD"}).empty());
}

TEST_CASE("what was listed or fetched is known") {
  auto m = lists();
  m.saw("b");
  m.saw("a");
  m.fetched("c");
  CHECK((m.knows("a") && m.knows("b") && m.knows("c")));
  CHECK_FALSE(m.knows("d"));
  m.clear();
  CHECK_FALSE(m.knows("a"));
}

}  // namespace KRUXOS_TEST_FILE
