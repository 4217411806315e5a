// Labels and deletions: done, looked for, undone, and accepted in the first place.
#include <catch2/catch.hpp>

#include "resolve.hpp"
#include "test_support/writing.hpp"

namespace KRUXOS_TEST_FILE {

using kruxos::ErrorKind;
using kruxos::testing::FakeAnswer;
using namespace gmail;

namespace {

Written label(const std::string& id, const std::string& add, const std::string& remove) {
  Written write;
  write.operation = "email.label";
  write.params = R"({"message_id":")" + id + R"(","add_labels":[)" + add + R"(],"remove_labels":[)" + remove + "]}";
  return write;
}

Written deletion(const std::string& id) {
  Written write;
  write.operation = "email.delete";
  write.params = ObjectWriter().text("message_id", id).done();
  return write;
}

Written bulk(const std::vector<std::string>& ids) {
  Written write;
  write.operation = "email.bulk_delete";
  write.params = R"({"message_ids":[)";
  for (std::size_t i = 0; i < ids.size(); ++i) write.params += (i == 0 ? "\"" : ",\"") + ids[i] + "\"";
  write.params += "]}";
  return write;
}

ErrorKind refused_kind(const std::function<void()>& body) {
  try {
    body();
  } catch (const kruxos::ProxyError& error) {
    return error.kind();
  }
  return ErrorKind::kInternal;
}

}  // namespace

TEST_CASE("labels change, are looked for, and go back to exactly what they were") {
  Desk desk;
  const auto id = desk.rig.arrive("a", {"INBOX", "UNREAD", "STARRED"});
  auto write = label(id, R"("IMPORTANT","STARRED")", R"("UNREAD","SPAM")");
  desk.make_point(write);
  CHECK(desk.find(write).answer == KRUX_EFFECT_ABSENT);
  const auto result = desk.execute(write);
  CHECK(desk.labels(id) == "IMPORTANT INBOX STARRED");
  CHECK(parse(result)["labels"].Size() == 3);
  CHECK(desk.find(write).answer == KRUX_EFFECT_FOUND);
  // Somebody files it meanwhile: none of this write's business.
  desk.rig.modify(id, {"CATEGORY_SOCIAL"}, {"INBOX"});
  CHECK(desk.find_undo(write, result).answer == KRUX_EFFECT_ABSENT);
  desk.undo(write, result);
  CHECK(desk.labels(id) == "CATEGORY_SOCIAL STARRED UNREAD");
  CHECK(desk.find_undo(write, result).answer == KRUX_EFFECT_FOUND);
}

TEST_CASE("labels that somebody has changed since are left alone, unless forced") {
  Desk desk;
  const auto id = desk.rig.arrive("a", {"INBOX", "UNREAD"});
  auto write = label(id, R"("STARRED")", R"("UNREAD")");
  desk.make_point(write);
  const auto result = desk.execute(write);
  desk.rig.modify(id, {"UNREAD"}, {});
  CHECK(refused_kind([&] { desk.undo(write, result); }) == ErrorKind::kConflict);
  CHECK(desk.labels(id) == "INBOX STARRED UNREAD");
  desk.undo(write, result, true);
  CHECK(desk.labels(id) == "INBOX UNREAD");
}

TEST_CASE("a change that changed nothing has nothing to undo") {
  Desk desk;
  const auto id = desk.rig.arrive("a", {"STARRED"});
  auto write = label(id, R"("STARRED")", R"("UNREAD")");
  desk.make_point(write);
  const auto result = desk.execute(write);
  desk.rig.reset_calls();
  desk.undo(write, result);
  CHECK(desk.rig.calls("modify") == 0);
  CHECK(desk.labels(id) == "STARRED");
}

TEST_CASE("a deleted message comes back with the labels that it had") {
  Desk desk;
  desk.rig.gmail.state.behaviour.trash_leaves_inbox = GENERATE(false, true);
  const auto id = desk.rig.arrive("a", {"INBOX", "UNREAD", "STARRED"});
  auto write = deletion(id);
  desk.make_point(write);
  CHECK(desk.find(write).answer == KRUX_EFFECT_ABSENT);
  const auto result = desk.execute(write);
  CHECK(desk.rig.mailbox().find(WritingRig::id_of(id))->has("TRASH"));
  CHECK(desk.find(write).answer == KRUX_EFFECT_FOUND);
  SECTION("undone") {
    desk.undo(write, result);
    CHECK(desk.labels(id) == "INBOX STARRED UNREAD");
    CHECK(desk.find_undo(write, result).answer == KRUX_EFFECT_FOUND);
  }
  SECTION("taken out by somebody already") {
    desk.rig.modify(id, {}, {"TRASH"});
    CHECK(refused_kind([&] { desk.undo(write, result); }) == ErrorKind::kConflict);
  }
  SECTION("gone for good") {
    desk.rig.erase(id);
    CHECK(refused_kind([&] { desk.undo(write, result); }) == ErrorKind::kNotFound);
  }
}

TEST_CASE("a message that lay in the trash already stays there when its deletion is undone") {
  Desk desk;
  const auto id = desk.rig.arrive("a", {"TRASH"});
  auto write = deletion(id);
  desk.make_point(write);
  desk.undo(write, desk.execute(write));
  CHECK(desk.labels(id) == "TRASH");
}

TEST_CASE("a message is moved to the trash, to spam or to the inbox, and goes back to where it was") {
  Desk desk;
  auto& behaviour = desk.rig.gmail.state.behaviour;
  behaviour.trash_leaves_inbox = GENERATE(true, false);
  behaviour.one_place = GENERATE(true, false);
  const std::string to = GENERATE("TRASH", "SPAM", "INBOX");
  const std::string from = GENERATE("INBOX", "SPAM", "TRASH", "IMPORTANT");
  CAPTURE(to, from, behaviour.trash_leaves_inbox, behaviour.one_place);
  const auto id = desk.rig.arrive("a", {"UNREAD", "STARRED", from});
  const auto before = desk.labels(id);
  auto write = label(id, "\"" + to + "\"", R"("UNREAD")");
  desk.make_point(write);
  CHECK(desk.find(write).answer == KRUX_EFFECT_ABSENT);
  std::string result;
  if (GENERATE(false, true)) {
    desk.lose_answer("modify");
    CHECK_THROWS_AS(desk.execute(write), kruxos::ProxyError);
    const auto found = desk.find(write);
    REQUIRE(found.answer == KRUX_EFFECT_FOUND);
    result = found.result_json;
  } else {
    result = desk.execute(write);
    CHECK(desk.find(write).answer == KRUX_EFFECT_FOUND);
  }
  CHECK(desk.rig.mailbox().find(WritingRig::id_of(id))->has(to));
  CHECK(desk.find_undo(write, result).answer == KRUX_EFFECT_ABSENT);
  SECTION("undone") {
    desk.undo(write, result);
    CHECK(desk.labels(id) == before);
    CHECK(desk.find_undo(write, result).answer == KRUX_EFFECT_FOUND);
  }
  SECTION("somebody has moved it elsewhere meanwhile") {
    if (to == from) return;
    desk.rig.modify(id, {}, {to});
    CHECK(refused_kind([&] { desk.undo(write, result); }) == ErrorKind::kConflict);
  }
}

TEST_CASE("what was in two places goes back to one of them, for Gmail adds no two at once") {
  Desk desk;
  const auto id = desk.rig.arrive("a", {"INBOX", "TRASH"});
  auto write = label(id, R"("SPAM")", "");
  desk.make_point(write);
  const auto result = desk.execute(write);
  CHECK(desk.labels(id) == "SPAM");
  desk.undo(write, result);
  CHECK(desk.labels(id) == "TRASH");
  CHECK(desk.find_undo(write, result).answer == KRUX_EFFECT_FOUND);
}

TEST_CASE("what lay in the trash already is not taken out of it by an undo, wherever it was besides") {
  Desk desk;
  const auto id = desk.rig.arrive("a", {"INBOX", "TRASH"});
  auto write = GENERATE(false, true) ? deletion(id) : label(id, R"("TRASH")", "");
  desk.make_point(write);
  const auto result = desk.execute(write);
  desk.undo(write, result);
  CHECK(desk.labels(id) == "TRASH");
  CHECK(desk.find_undo(write, result).answer == KRUX_EFFECT_FOUND);
}

TEST_CASE("many are deleted in one request, and each comes back as it was") {
  Desk desk;
  const auto a = desk.rig.arrive("a", {"INBOX", "UNREAD"}), b = desk.rig.arrive("b", {"STARRED"}),
             c = desk.rig.arrive("c", {"TRASH"}), d = desk.rig.arrive("d", {"INBOX"});
  auto write = bulk({a, b, c, d, a});
  desk.make_point(write);
  desk.rig.reset_calls();
  const bool lost = GENERATE(false, true);
  std::string result;
  if (lost) {
    desk.lose_answer("batchModify");
    CHECK_THROWS_AS(desk.execute(write), kruxos::ProxyError);
    const auto found = desk.find(write);
    REQUIRE(found.answer == KRUX_EFFECT_FOUND);
    result = found.result_json;
  } else {
    result = desk.execute(write);
    CHECK(desk.rig.host.requests.size() == 1);
  }
  for (const auto& id : {a, b, c, d}) CHECK(desk.rig.mailbox().find(WritingRig::id_of(id))->has("TRASH"));
  CHECK(desk.find_undo(write, result).answer == KRUX_EFFECT_ABSENT);
  desk.undo(write, result);
  CHECK(desk.labels(a) == "INBOX UNREAD");
  CHECK(desk.labels(b) == "STARRED");
  CHECK(desk.labels(c) == "TRASH");
  CHECK(desk.labels(d) == "INBOX");
  CHECK(desk.find_undo(write, result).answer == KRUX_EFFECT_FOUND);
}

TEST_CASE("a message that is gone fails before anything is done") {
  Desk desk;
  const auto a = desk.rig.arrive("a");
  auto write = bulk({a, "00000000000000ff"});
  CHECK(refused_kind([&] { desk.make_point(write); }) == ErrorKind::kNotFound);
  CHECK(desk.labels(a) == "INBOX UNREAD");
}

TEST_CASE("names of labels become ids, and what would be refused later is refused now") {
  Desk desk;
  auto lent = desk.rig.store.store();
  for (const auto* id : {"INBOX", "UNREAD", "STARRED", "TRASH", "SPAM", "SENT"}) lent.put(label_record({id, id, true}));
  lent.put(label_record({"Label_7", "My Family", false}));
  lent.commit();
  const auto resolved = [&](const std::string& operation, const std::string& params) {
    return resolve(desk.rig.store.store().reader(), operation, params, kOwn);
  };
  const auto why = [&](const std::string& operation, const std::string& params) {
    try {
      resolved(operation, params);
      return std::string("taken");
    } catch (const kruxos::ProxyError& error) {
      CHECK(error.kind() == ErrorKind::kInvalid);
      CHECK(error.has_no_effect());
      return error.type() + ": " + error.what();
    }
  };
  CHECK(resolved("email.label",
                 R"({"message_id":"1","add_labels":["my-family","starred"],"remove_labels":["UNREAD"]})") ==
        R"({"message_id":"1","add_labels":["Label_7","STARRED"],"remove_labels":["UNREAD"]})");
  // As ids, by which the host knows that they count as a deletion.
  CHECK(resolved("email.move", R"({"message_id":"1","add_labels":["trash"]})") ==
        R"({"message_id":"1","add_labels":["TRASH"]})");
  for (const auto* both : {R"("TRASH","spam")", R"("inbox","TRASH","STARRED")", R"("INBOX","SPAM")"}) {
    CHECK(
        why("email.label", std::string(R"({"message_id":"1","add_labels":[)") + both + "]}").find("only one of them") !=
        std::string::npos);
  }
  CHECK(why("email.label", R"({"message_id":"1","add_labels":["SENT"]})").find("sets the label") != std::string::npos);
  CHECK(why("email.label", R"({"message_id":"1","add_labels":["famly"]})").find("My Family") != std::string::npos);
  CHECK(why("email.label", R"({"message_id":"1","add_labels":["STARRED"],"remove_labels":["starred"]})").find("both") !=
        std::string::npos);
  CHECK(why("email.label", R"({"message_id":"1","add_labels":[]})").find("NoLabelsProvided") == 0);
  CHECK(why("email.label", R"({"message_id":"1","add_labels":[1]})").find("no list of labels") != std::string::npos);
  CHECK(why("email.send", R"({"to":"nobody","body":"x"})").find("is no mail address") != std::string::npos);
  CHECK(why("email.send", R"({"to":"a@example.com"})").find("is empty") != std::string::npos);
  CHECK(why("email.send", R"({"to":"a@example.com","attachments":[{"filename":"a"}]})").find("is an upload") !=
        std::string::npos);
  CHECK(why("email.forward", R"({"to":"","message_id":"1"})").find("no recipient") != std::string::npos);
  CHECK(why("email.send", R"({"to":"a@example.com","body":"x"})") == "taken");
  std::string many = R"({"message_ids":["1")";
  for (int i = 0; i < 100; ++i) many += ",\"1\"";
  CHECK(why("email.bulk_delete", many + "]}").find("At most 100") != std::string::npos);
  CHECK(why("email.bulk_delete", R"({"message_ids":[1]})").find("no list") != std::string::npos);
}

}  // namespace KRUXOS_TEST_FILE
