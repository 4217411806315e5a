// Tags and named texts: what finds a record by them, and what does not.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "core/replica/replica_fixture.hpp"
#include "core/replica/searched_text.hpp"
#include "core/util/text.hpp"
#include "support/fault.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
using Kind = Condition::Kind;
using Ids = std::vector<std::string>;

namespace {

std::vector<CollectionSpec> tagged_collections(int version = 1, const std::string& more = "") {
  return parse_collections(R"({"collections": [{"name": "messages", "searchable": true, "tags": true, "version": )" +
                           std::to_string(version) +
                           R"(, "fields": [{"name": "channel"}], "texts": [{"name": "subject"},
                                        {"name": "sender", "exact": true}, {"name": "file"})" +
                           more + R"(]}, {"name": "people", "order": "key", "searchable": true}]})");
}

Record letter(const std::string& id, std::int64_t order_ms, std::vector<std::string> tags,
              std::vector<std::pair<std::string, std::string>> texts = {}, std::string text = "letter") {
  auto record = message(id, order_ms, std::move(text));
  record.tags = std::move(tags);
  record.texts = std::move(texts);
  return record;
}

Condition tag(std::string value) {
  Condition c;
  c.kind = Kind::kTag;
  c.text = std::move(value);
  return c;
}

Condition named(std::string name, std::string part) {
  Condition c;
  c.kind = Kind::kNamedText;
  c.field = std::move(name);
  c.text = std::move(part);
  return c;
}

struct Tagged : ReplicaFixture {
  Tagged() : ReplicaFixture(tagged_collections()) {}
  std::string put(Record record) {
    const auto session = store->begin_session();
    auto why = session->put(std::move(record));
    session->commit();
    return why;
  }
  Ids found(Condition where) { return ask(*store->reader(), messages_where(std::move(where))).ids; }
  /// A tag's number in a set of tables; 0: it has none.
  std::int64_t number(const std::string& tag_text, const std::string& set = "messages") {
    SQLite::Database db(file.string(), SQLite::OPEN_READONLY);
    SQLite::Statement row(db, "SELECT number FROM g_" + set + " WHERE tag = ?1");
    row.bind(1, tag_text);
    return row.executeStep() ? row.getColumn(0).getInt64() : 0;
  }
};

}  // namespace

TEST_CASE("a tag finds the records that have exactly it") {
  Tagged r;
  r.put(letter("1", 1000, {"work", "to do"}));
  r.put(letter("2", 2000, {"work/late", "Work"}));
  r.put(letter("3", 3000, {}, {}, "work to do"));
  CHECK(r.found(tag("work")) == Ids{"1"});
  CHECK(r.found(tag("Work")) == Ids{"2"});
  CHECK(r.found(tag("work/late")) == Ids{"2"});
  CHECK(r.found(tag("to do")) == Ids{"1"});
  CHECK(r.found(tag("wor")).empty());
  CHECK(r.found(tag("")).empty());
  CHECK(r.found(group(Kind::kAllOf, {tag("work"), tag("to do")})) == Ids{"1"});
  CHECK(r.found(group(Kind::kAllOf, {tag("work"), tag("Work")})).empty());
  CHECK(r.found(text_is("work")) == Ids{"3"});
}

TEST_CASE("a tag that no record has finds nothing, and its lack all") {
  Tagged r;
  r.put(letter("1", 1000, {"work"}));
  r.put(letter("2", 2000, {}));
  CHECK(r.found(tag("home")).empty());
  CHECK(r.found(group(Kind::kNoneOf, {tag("home")})) == Ids{"2", "1"});
  CHECK(r.found(group(Kind::kNoneOf, {tag("work")})) == Ids{"2"});
  CHECK(r.found(group(Kind::kAnyOf, {tag("home"), tag("work")})) == Ids{"1"});
  CHECK(r.number("home") == 0);  // looking for it makes none
  r.put(letter("3", 3000, {"home"}));
  CHECK(r.found(tag("home")) == Ids{"3"});
}

TEST_CASE("many tags are told apart by the index, and counted") {
  Tagged r;
  constexpr int kRecords = 3000, kTags = 900;
  const auto session = r.store->begin_session();
  for (int i = 0; i < kRecords; ++i) {
    session->put(
        letter(std::to_string(i), 1000 + i, {"t" + std::to_string(i % kTags), "u" + std::to_string(i % 7), "all"}));
  }
  session->commit();
  for (const int i : {0, 1, 299, 300, 899}) {
    const auto answer = ask(*r.store->reader(), messages_where(tag("t" + std::to_string(i))));
    REQUIRE(answer.ids.size() == (i < 300 ? 4u : 3u));
    for (const auto& id : answer.ids) CHECK(std::stoi(id) % kTags == i);
    CHECK(answer.result.total == answer.ids.size());
    CHECK_FALSE(answer.result.total_is_lower_bound);
  }
  CHECK(ask(*r.store->reader(), messages_where(tag("all"))).ids.size() == 1000);
  auto both = messages_where(group(Kind::kAllOf, {tag("u3"), group(Kind::kNoneOf, {tag("t3")})}));
  both.count_limit = 5000;
  std::uint64_t expected = 0;
  for (int i = 0; i < kRecords; ++i) expected += i % 7 == 3 && i % kTags != 3 ? 1 : 0;
  CHECK(ask(*r.store->reader(), both).result.total == expected);
  check_index(r.file);
}

TEST_CASE("a named text is searched by its name alone, and folded unless it is exact") {
  Tagged r;
  r.put(letter("1", 1000, {}, {{"subject", "Dinner at Straße"}, {"sender", "Ann Lee"}}, "plain words"));
  r.put(letter("2", 2000, {}, {{"subject", "Ann Lee"}, {"sender", "dinner"}}, "Ann Lee"));
  CHECK(r.found(named("subject", "DINNER")) == Ids{"1"});
  CHECK(r.found(named("subject", "strasse")) == Ids{"1"});
  CHECK(r.found(named("subject", "er at st")) == Ids{"1"});
  CHECK(r.found(named("subject", "ann")) == Ids{"2"});
  CHECK(r.found(named("sender", "Ann")) == Ids{"1"});
  CHECK(r.found(named("sender", "ann")).empty());
  CHECK(r.found(named("sender", "n")) == Ids{"2", "1"});  // shorter than a token
  CHECK(r.found(named("file", "Ann")).empty());
  CHECK(r.found(text_is("dinner")).empty());
  CHECK(r.found(text_is("ann")) == Ids{"2"});
  CHECK(r.found(named("subject", "")) == Ids{"2", "1"});
  CHECK(r.found(group(Kind::kNoneOf, {named("subject", "dinner")})) == Ids{"2"});
}

TEST_CASE("nothing is found across two values of a name, nor across names, tags and texts") {
  Tagged r;
  r.put(letter("1", 1000, {"a", "b"}, {{"file", "one.txt"}, {"file", "two.txt"}, {"file", ""}, {"subject", "one"}},
               "one"));
  CHECK(r.found(named("file", "one")) == Ids{"1"});
  CHECK(r.found(named("file", "two.txt")) == Ids{"1"});
  CHECK(r.found(named("file", "txttwo")).empty());
  CHECK(r.found(named("file", "txt\x1ftwo")).empty());
  CHECK(r.found(named("file", "oneone")).empty());
  CHECK(r.found(named("file", "a")).empty());
  r.put(letter("2", 2000, {}, {{"sender", "one\x1ftwo"}, {"file", "one\x1ftwo"}}));
  CHECK(r.found(named("sender", "one\x1ftwo")) == Ids{"2"});  // exact
  CHECK(r.found(named("sender", "onetwo")).empty());
  CHECK(r.found(named("file", "onetwo")) == Ids{"2"});
}

TEST_CASE("no text that people write is a tag or a named text") {
  Tagged r;
  r.put(letter("1", 1000, {"secret"}, {{"subject", "hidden"}}));
  const auto spec = tagged_collections()[0];
  const auto stolen_tag = tag_gram(r.number("secret")), stolen_text = named_text_part("hidden", spec, 0);
  r.put(letter("2", 2000, {}, {{"subject", stolen_tag}, {"sender", stolen_tag}}, "pl" + stolen_tag + "ans"));
  {
    const auto session = r.store->begin_session();
    session->keep_text("messages", "2", stolen_tag + "kept" + stolen_text);
    session->commit();
  }
  CHECK(r.found(tag("secret")) == Ids{"1"});
  CHECK(r.found(named("subject", "hidden")) == Ids{"1"});
  CHECK(r.found(text_is("plans")) == Ids{"2"});
  CHECK(r.found(text_is("kept")) == Ids{"2"});
  CHECK(r.found(text_is("k" + stolen_text + "ept")) == Ids{"2"});
  CHECK(r.found(text_is(stolen_tag)).empty());
  CHECK(r.found(text_is(stolen_text)).empty());
  CHECK(r.found(named("subject", stolen_tag)).empty());
  CHECK(r.found(named("sender", stolen_tag)) == Ids{"2"});  // exact: its own bytes
  CHECK(r.found(group(Kind::kNoneOf, {text_is(stolen_tag)})) == Ids{"2", "1"});
}

TEST_CASE("a record that changes its tags or named texts is found by the new ones alone") {
  Tagged r;
  r.put(letter("1", 1000, {"old", "stays"}, {{"subject", "before"}}));
  r.put(letter("1", 1000, {"new", "stays"}, {{"subject", "after"}}));
  CHECK(r.store->changes().updated == 1);
  CHECK(r.found(tag("old")).empty());
  CHECK(r.found(tag("new")) == Ids{"1"});
  CHECK(r.found(tag("stays")) == Ids{"1"});
  CHECK(r.found(named("subject", "before")).empty());
  CHECK(r.found(named("subject", "after")) == Ids{"1"});
  r.put(letter("1", 1000, {"new", "stays"}, {{"subject", "after"}}));
  CHECK(r.store->changes().unchanged == 1);
  r.put(letter("1", 5000, {"stays"}));  // in another place of the order
  CHECK(r.found(tag("stays")) == Ids{"1"});
  CHECK(r.found(tag("new")).empty());
  r.put(letter("1", 5000, {}));
  CHECK(r.found(tag("stays")).empty());
  check_index(r.file);
}

TEST_CASE("numbers are given in sequence and stay after a restart") {
  Tagged r;
  r.put(letter("1", 1000, {"a", "b", "a"}));
  r.put(letter("2", 2000, {"b", "c"}));
  CHECK(r.number("a") == 1);
  CHECK(r.number("b") == 2);
  CHECK(r.number("c") == 3);
  r.open(tagged_collections());
  CHECK(r.found(tag("b")) == Ids{"2", "1"});
  r.put(letter("3", 3000, {"d", "a"}));
  CHECK(r.number("d") == 4);
  CHECK(r.found(tag("a")) == Ids{"3", "1"});
  const auto session = r.store->begin_session();
  session->erase("messages", "1");
  session->erase("messages", "3");
  session->commit();
  r.put(letter("4", 4000, {"e"}));
  CHECK(r.number("e") == 5);  // never one that another tag had
  CHECK(r.number("a") == 1);
}

TEST_CASE("what is not committed gives no tag a number") {
  Tagged r;
  {
    const auto session = r.store->begin_session();
    session->put(letter("1", 1000, {"dropped"}));
  }
  CHECK(r.number("dropped") == 0);
  r.store.reset();
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    Replica store(r.file, tagged_collections(), r.clock);
    const auto session = store.begin_session();
    session->put(letter("1", 1000, {"killed"}));
    support::arm_fault("sync.commit.before_commit");
    session->commit();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  r.open(tagged_collections());
  CHECK(r.number("killed") == 0);
  r.put(letter("2", 2000, {"later"}));
  CHECK(r.number("later") == 1);
  CHECK(r.found(tag("later")) == Ids{"2"});
  CHECK(r.found(tag("killed")).empty());
}

TEST_CASE("a view knows the tags of its own moment") {
  Tagged r;
  r.put(letter("1", 1000, {"a"}));
  const auto before = r.store->reader();
  CHECK(ask(*before, messages_where(tag("a"))).ids == Ids{"1"});
  r.put(letter("2", 2000, {"b", "a"}));
  CHECK(ask(*before, messages_where(tag("b"))).ids.empty());
  CHECK(ask(*before, messages_where(tag("a"))).ids == Ids{"1"});
  CHECK(r.found(tag("b")) == Ids{"2"});
}

TEST_CASE("random tags and named texts, random conditions: the same as a naive evaluation") {
  Tagged r;
  std::mt19937 random(20'261'123);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  const std::vector<std::string> words{"a", "b", "ab", "Ann", "ann", "DINNER", "dinner", " ", "straße", "\x1f", "漢字"};
  const auto text = [&](std::uint32_t most) {
    std::string out;
    for (auto n = below(most + 1); n > 0; --n) out += words[below(static_cast<std::uint32_t>(words.size()))];
    return out;
  };
  const auto name = [&] { return std::array{"subject", "sender", "file"}[below(3)]; };
  const auto tag_text = [&] { return "t" + std::to_string(below(60)); };
  std::map<std::string, Record> naive;
  const std::function<bool(const Condition&, const Record&)> fits = [&](const Condition& c, const Record& of) {
    const auto fit = [&](const Condition& child) { return fits(child, of); };
    if (c.kind == Kind::kAllOf) return std::all_of(c.children.begin(), c.children.end(), fit);
    if (c.kind == Kind::kAnyOf) return std::any_of(c.children.begin(), c.children.end(), fit);
    if (c.kind == Kind::kNoneOf) return std::none_of(c.children.begin(), c.children.end(), fit);
    if (c.kind == Kind::kTag) return std::find(of.tags.begin(), of.tags.end(), c.text) != of.tags.end();
    if (c.text.empty()) return true;
    if (c.kind == Kind::kText)
      return !fold(c.text).empty() && fold(of.text, true).find(fold(c.text)) != std::string::npos;
    const auto kept = [&](const std::string& all) { return c.field == "sender" ? all : fold(all); };
    return !kept(c.text).empty() && std::any_of(of.texts.begin(), of.texts.end(), [&](const auto& one) {
      return one.first == c.field && kept(one.second).find(kept(c.text)) != std::string::npos;
    });
  };
  const std::function<Condition(int)> condition = [&](int depth) {
    const auto kind = below(depth > 0 ? 7 : 3);
    if (kind == 0) return text_is(text(2));
    if (kind == 1) return tag(tag_text());
    if (kind == 2) return named(name(), text(2));
    std::vector<Condition> children;
    for (auto n = below(4); n > 0; --n) children.push_back(condition(depth - 1));
    return group(std::array{Kind::kAllOf, Kind::kAnyOf, Kind::kNoneOf}[below(3)], std::move(children));
  };
  for (int round = 0; round < 40; ++round) {
    const auto session = r.store->begin_session();
    for (int i = 0; i < 80; ++i) {
      auto record = letter(std::to_string(below(2000)), below(100'000), {}, {}, text(5));
      for (auto n = below(5); n > 0; --n) record.tags.push_back(tag_text());
      for (auto n = below(4); n > 0; --n) record.texts.emplace_back(name(), text(4));
      session->put(record);
      naive[record.id] = record;
    }
    session->commit();
    for (int i = 0; i < 25; ++i) {
      auto query = messages_where(condition(3));
      query.limit = 5000;
      query.rare = below(3) == 0;
      auto ids = ask(*r.store->reader(), query).ids;
      std::sort(ids.begin(), ids.end());
      Ids expected;
      for (const auto& [id, record] : naive) {
        if (fits(query.where, record)) expected.push_back(id);
      }
      REQUIRE(ids == expected);
    }
  }
  check_index(r.file);
}

TEST_CASE("pairs of short named texts over many rows: each is found by its own name") {
  Tagged r;
  std::mt19937 random(20'261'125);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  const std::vector<std::string> parts{"q", "qx", "qxj", "é", "漢", "xqx", "jj"};
  const auto part = [&] { return parts[below(static_cast<std::uint32_t>(parts.size()))]; };
  std::vector<Record> all;
  const auto session = r.store->begin_session();
  for (int i = 0; i < 6000; ++i) {
    auto record = letter(std::to_string(10'000 + i), 10'000 - i, {}, {}, "hay");
    record.texts = {{"subject", "hay"}, {"sender", "hay"}};
    if (below(10) == 0) record.texts[0].second += part() + (below(2) == 0 ? "" : " is behind it");
    if (below(10) == 0) record.texts[1].second += part();
    session->put(record);
    all.push_back(record);
    if (i % 200 == 199) session->commit();
  }
  session->commit();
  for (const auto& subject : parts) {
    for (const auto& sender : parts) {
      Ids expected;
      for (const auto& record : all) {
        const auto has = [&](std::size_t i, const std::string& it) {
          return record.texts[i].second.find(it) != std::string::npos;
        };
        if (has(0, subject) && has(1, sender)) expected.push_back(record.id);
      }
      INFO(subject << " from " << sender);
      CHECK(r.found(group(Kind::kAllOf, {named("subject", subject), named("sender", sender)})) == expected);
    }
  }
}

TEST_CASE("another version has a dictionary of its own, and what is dropped takes its own along") {
  Tagged r;
  r.put(letter("1", 1000, {"x", "a"}));
  r.store->finish_pass(true, 1);
  r.open(tagged_collections(2));
  CHECK(r.found(tag("a")) == Ids{"1"});
  const auto session = r.store->begin_session();
  session->put(letter("1", 1000, {"b", "a"}));
  session->commit();
  CHECK(r.number("a") == 2);
  CHECK(r.number("a", "messages$2") == 2);
  CHECK(r.number("b", "messages$2") == 1);
  CHECK(r.found(tag("b")).empty());
  CHECK(ask(*r.store->filled_reader(), messages_where(tag("b"))).ids == Ids{"1"});
  r.store->finish_pass(true, 2);
  CHECK(r.found(tag("b")) == Ids{"1"});
  CHECK(r.found(tag("x")).empty());
  r.store->idle();
  SQLite::Database db(r.file.string(), SQLite::OPEN_READONLY);
  CHECK_FALSE(db.tableExists("g_messages"));
  CHECK(db.tableExists("g_messages$2"));
}

TEST_CASE("what is declared of tags and named texts is part of what makes a collection be built anew") {
  const auto is_rebuilt = [](const std::vector<CollectionSpec>& now) {
    Tagged r;
    r.put(letter("1", 1000, {"a"}, {{"sender", "Ann"}}));
    r.store->finish_pass(true, 1);
    r.open(now);
    return !r.store->state().full_done;
  };
  CHECK_FALSE(is_rebuilt(tagged_collections()));
  CHECK(is_rebuilt(tagged_collections(1, R"(, {"name": "more"})")));
  auto specs = tagged_collections();
  specs[0].tags = false;
  CHECK(is_rebuilt(specs));
  specs = tagged_collections();
  specs[0].texts[1].exact = false;
  CHECK(is_rebuilt(specs));
  specs = tagged_collections();
  std::swap(specs[0].texts[0], specs[0].texts[2]);
  CHECK(is_rebuilt(specs));
}

TEST_CASE("while another version is built, what the one before cannot answer is asked of the new one") {
  Tagged r;
  r.put(letter("1", 1000, {"a"}, {{"sender", "Ann"}}));
  r.store->finish_pass(true, 1);
  auto specs = tagged_collections(2, R"(, {"name": "more"})");
  specs[0].texts[1].exact = false;
  r.open(specs);
  CHECK(r.found(tag("a")) == Ids{"1"});
  CHECK(r.found(named("subject", "x")).empty());
  r.put(letter("2", 2000, {"a"}, {{"sender", "Ann"}, {"more", "else"}}));
  CHECK(r.found(tag("a")) == Ids{"1"});
  CHECK(r.found(named("more", "else")) == Ids{"2"});
  CHECK(r.found(named("sender", "ann")) == Ids{"2"});
}

TEST_CASE("what a read has fetched has tags and named texts as well") {
  Tagged r;
  r.put(letter("1", 1000, {"a"}));
  CHECK(r.store->fetching_reader()->put_fetched(letter("2", 2000, {"b"}, {{"subject", "Fetched"}}), "").empty());
  CHECK(r.found(tag("b")) == Ids{"2"});
  CHECK(r.found(named("subject", "fetched")) == Ids{"2"});
  CHECK(r.store->fetching_reader()->keep("messages", "2", {}, tag_gram(1) + "kept"));
  CHECK(r.found(text_is("kept")) == Ids{"2"});
  CHECK(r.found(tag("a")) == Ids{"1"});
  CHECK(r.found(tag("b")) == Ids{"2"});
}

TEST_CASE("tags and named texts that the replica cannot take leave the record out") {
  using Catch::Contains;
  Tagged r;
  CHECK_THAT(r.put(letter("1", 1000, {""})), Contains("tags is empty"));
  CHECK_THAT(r.put(letter("1", 1000, {std::string(257, 'x')})), Contains("longer than 256 bytes"));
  CHECK(r.put(letter("1", 1000, {std::string(256, 'x')})).empty());
  CHECK_THAT(r.put(letter("1", 1000, std::vector<std::string>(1025, "t"))), Contains("more than 1024 tags"));
  CHECK(r.found({}).empty());  // it was there, and is no longer true
  const std::string half(512 << 10, 'x');
  CHECK(r.put(letter("1", 1000, {}, {{"subject", half}}, half)).empty());
  CHECK_THAT(r.put(letter("1", 1000, {}, {{"subject", half}, {"file", "x"}}, half)), Contains("together"));
  CHECK_THAT(r.put(letter("1", 1000, {}, std::vector<std::pair<std::string, std::string>>(10'001, {"file", "x"}))),
             Contains("10000 values"));
  CHECK(r.put(letter("1", 1000, {std::string("a\xff\0", 3)}, {{"sender", "\xff"}})).empty());
  CHECK(r.found(tag("a\uFFFD\uFFFD")) == Ids{"1"});
  CHECK(r.found(named("sender", "\uFFFD")) == Ids{"1"});
}

TEST_CASE("tags and named texts that were not declared are refused") {
  using Catch::Contains;
  ReplicaFixture r;
  const auto put = [&](const Record& record) { return error_of([&] { r.store->begin_session()->put(record); }); };
  CHECK_THAT(put(letter("1", 1000, {"a"})), Contains("it has tags"));
  CHECK_THAT(put(letter("1", 1000, {}, {{"subject", "x"}})), Contains("no text \"subject\""));
  const auto find = [&](const Condition& where) {
    return error_of([&] { ask(*r.store->reader(), messages_where(where)); });
  };
  CHECK_THAT(find(tag("a")), Contains("has no tags"));
  CHECK_THAT(find(named("subject", "x")), Contains("has no text \"subject\""));
  Tagged t;
  CHECK_THAT(error_of([&] { t.found(named("nothing", "x")); }), Contains("has no text \"nothing\""));
}

TEST_CASE("collections without tags have the tables that they always had") {
  Tagged r;
  SQLite::Database db(r.file.string(), SQLite::OPEN_READONLY);
  CHECK(db.tableExists("g_messages"));
  CHECK_FALSE(db.tableExists("g_people"));
  const auto shape = [&](const char* name) {
    SQLite::Statement row(db, "SELECT shape FROM collections WHERE name = ?1");
    row.bind(1, name);
    return row.executeStep() ? row.getColumn(0).getString() : std::string();
  };
  CHECK(shape("people") == "3;key;searched");
  CHECK(shape("messages") == "3;time;searched;channel:text;+;+subject:folded;+sender:exact;+file:folded");
}

}  // namespace KRUXOS_TEST_FILE
