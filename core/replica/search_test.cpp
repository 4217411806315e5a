// Random records and random conditions against a naive evaluation in memory.
#include "core/replica/search.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "core/replica/replica_fixture.hpp"
#include "core/util/text.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
using Kind = Condition::Kind;
using Op = Condition::Op;

namespace {

/// What is easily mistaken: cases and forms that fold, short and wide characters, quotes, wildcards, separators.
const std::vector<std::string> kPieces{"a",
                                       "b",
                                       "ab",
                                       "the",
                                       "meeting",
                                       "team",
                                       " ",
                                       " ",
                                       "straße",
                                       "STRASSE",
                                       "İstanbul",
                                       "istanbul",
                                       "caf\u00e9",
                                       "cafe\u0301",
                                       "漢字",
                                       "漢",
                                       "東京都",
                                       "ｱ",
                                       "😀",
                                       "👩‍👩‍👧",
                                       "\"",
                                       "'",
                                       "%",
                                       "_",
                                       "*",
                                       "-",
                                       "(",
                                       "NEAR",
                                       "OR",
                                       "AND",
                                       "\x1f",
                                       "x",
                                       "zq",
                                       "ﬁ",
                                       "fi",
                                       "ǅ",
                                       "Σίσυφος",
                                       "ς",
                                       std::string("\0", 1)};

class World {
 public:
  explicit World(std::uint32_t seed) : random_(seed) {}

  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  std::string text(std::uint32_t pieces) {
    std::string result;
    for (auto n = below(pieces + 1); n > 0; --n) result += kPieces[below(static_cast<std::uint32_t>(kPieces.size()))];
    return result;
  }

  Record record() {
    auto r = message("id" + std::to_string(below(300)), below(4000), text(14), "ch" + std::to_string(below(4)),
                     1 + below(5));
    replace_odd_text(r.text);  // as the store does
    if (below(3) > 0) r.fields.emplace_back("sender", strip(text(2)));
    if (below(3) > 0) r.fields.emplace_back("stars", static_cast<std::int64_t>(below(5)) - 2);
    return r;
  }

  Condition condition(int depth) {
    switch (below(depth > 0 ? 6 : 3)) {
      case 0:
      case 1:
        return text_is(text(3));
      case 2:
        return field();
      default: {
        std::vector<Condition> children;
        for (auto n = below(4); n > 0; --n) children.push_back(condition(depth - 1));
        return group(std::array{Kind::kAllOf, Kind::kAnyOf, Kind::kNoneOf}[below(3)], std::move(children));
      }
    }
  }

  Query query() {
    auto q = messages_where(condition(3));
    q.descending = below(2) == 0;
    if (below(3) == 0) q.from_ms = below(4000);
    if (below(3) == 0) q.to_ms = below(4000);
    q.limit = below(30);
    q.offset = below(10);
    q.count_limit = below(2) * below(200);
    q.rare = below(4) == 0;
    return q;
  }

 private:
  static std::string strip(std::string s) {
    std::erase(s, '\0');
    return s;
  }

  Condition field() {
    const auto op = std::array{Op::kEq, Op::kEq, Op::kEq, Op::kNe, Op::kLt, Op::kLe, Op::kGt, Op::kGe}[below(8)];
    switch (below(3)) {
      case 0:
        return field_is("channel", "ch" + std::to_string(below(5)), op);
      case 1:
        return field_is("sender", strip(text(2)), below(3) == 0 ? Op::kContains : op);
      default: {
        auto c = field_is("stars", "", op);
        c.number = static_cast<std::int64_t>(below(6)) - 3;
        return c;
      }
    }
  }

  std::mt19937 random_;
};

/// The meaning of a condition, written down as simply as possible.
bool fits(const Condition& c, const Record& r) {
  const auto fit = [&](const Condition& child) { return fits(child, r); };
  switch (c.kind) {
    case Kind::kAllOf:
      return std::all_of(c.children.begin(), c.children.end(), fit);
    case Kind::kAnyOf:
      return std::any_of(c.children.begin(), c.children.end(), fit);
    case Kind::kNoneOf:
      return std::none_of(c.children.begin(), c.children.end(), fit);
    case Kind::kText:
      return without_accents(fold(r.text, true)).find(without_accents(fold(c.text))) != std::string::npos;
    case Kind::kTag:
    case Kind::kNamedText:
      return false;  // tags_test.cpp has its own
    case Kind::kField:
      break;
  }
  for (const auto& [name, value] : r.fields) {
    if (name != c.field) continue;
    const auto compare = [&](const auto& have, const auto& want) {
      switch (c.op) {
        case Op::kEq:
          return have == want;
        case Op::kNe:
          return have != want;
        case Op::kLt:
          return have < want;
        case Op::kLe:
          return have <= want;
        case Op::kGt:
          return have > want;
        default:
          return have >= want;
      }
    };
    if (std::holds_alternative<std::int64_t>(value)) return compare(std::get<std::int64_t>(value), c.number);
    const auto& text = std::get<std::string>(value);
    if (c.op == Op::kContains) return fold(text).find(fold(c.text)) != std::string::npos;
    return compare(text, c.text);
  }
  return c.op == Op::kNe;
}

class Naive {
 public:
  void put(const Record& r) { rows_[r.id] = r; }
  void erase(const std::string& id) { rows_.erase(id); }
  void sweep(const std::string& scope, std::int64_t generation, std::int64_t from, std::int64_t to) {
    std::erase_if(rows_, [&](const auto& row) {
      const auto& r = row.second;
      return (scope.empty() || r.scope == scope) && r.generation < generation && r.order_ms >= from && r.order_ms <= to;
    });
  }
  std::size_t size() const { return rows_.size(); }

  /// Times rather than ids: records of one millisecond have no order among themselves.
  std::vector<std::int64_t> times(const Query& q, std::size_t& total) const {
    std::vector<std::int64_t> all;
    for (const auto& [id, r] : rows_) {
      if (r.order_ms >= q.from_ms && r.order_ms <= q.to_ms && fits(q.where, r)) all.push_back(r.order_ms);
    }
    total = all.size();
    std::sort(all.begin(), all.end());
    if (q.descending) std::reverse(all.begin(), all.end());
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(q.offset, all.size())));
    all.resize(std::min<std::size_t>(all.size(), q.limit));
    return all;
  }
  const Record& row(const std::string& id) const { return rows_.at(id); }

 private:
  std::map<std::string, Record> rows_;
};

void change_something(World& world, Naive& naive, Replica& store) {
  auto session = store.begin_session();
  for (auto n = world.below(60); n > 0; --n) {
    if (world.below(5) == 0) {
      const auto id = "id" + std::to_string(world.below(300));
      session->erase("messages", id);
      naive.erase(id);
    } else {
      const auto r = world.record();
      session->put(r);
      naive.put(r);
    }
  }
  if (world.below(4) == 0) {
    const auto scope = world.below(3) == 0 ? "" : "ch" + std::to_string(world.below(4));
    const std::int64_t generation = world.below(4), from = world.below(4000), to = world.below(4000);
    session->sweep("messages", scope, generation, from, to);
    naive.sweep(scope, generation, from, to);
  }
  session->commit();
}

void compare(const Naive& naive, ReplicaReader& reader, const Query& query) {
  std::size_t total = 0;
  const auto expected = naive.times(query, total);
  std::vector<std::int64_t> times;
  const auto result = reader.query(query, [&](const RowView& row) {
    times.push_back(row.order_ms);
    const auto& known = naive.row(std::string(row.id));
    REQUIRE(known.order_ms == row.order_ms);
    REQUIRE(fits(query.where, known));
    return true;
  });
  REQUIRE(times == expected);
  REQUIRE_FALSE(result.incomplete);
  const std::size_t cap =
      std::max<std::size_t>(query.count_limit == 0 ? 1000 : query.count_limit, query.limit + query.offset);
  REQUIRE(result.total == std::min(total, cap));
  REQUIRE(result.total_is_lower_bound == (total > cap));
}

}  // namespace

TEST_CASE("random records, random conditions: the same as a naive evaluation") {
  ReplicaFixture r;
  World world(20'261'121);
  Naive naive;
  for (int round = 0; round < 60; ++round) {
    INFO("round " << round);
    change_something(world, naive, *r.store);
    REQUIRE(r.store->counts().at("messages") == static_cast<std::int64_t>(naive.size()));
    auto reader = r.store->reader();
    for (int i = 0; i < 40; ++i) compare(naive, *reader, world.query());
    check_index(r.file);
  }
}

TEST_CASE("the same over enough rows that the plan changes on the way") {
  ReplicaFixture r;
  World world(77);
  Naive naive;
  auto session = r.store->begin_session();
  for (int i = 0; i < 6000; ++i) {
    auto record = world.record();
    record.id = std::to_string(i);
    record.order_ms = i / 3;
    record.scope = i % 3 == 0 ? "few" : "many";
    record.fields = {{"channel", std::string(i % 2 == 0 ? "even" : "odd")},
                     {"sender", std::string(i % 3 == 0 ? "s0" : "s1")}};
    if (i < 100) record.text += " needle";
    if (i % 40 == 39) record.text += "haystack";
    session->put(record);
    naive.put(record);
    if (i % 200 == 199) session->commit();
  }
  session->commit();
  auto reader = r.store->reader();
  for (const auto* term :
       {"needle", "need", "nee", "ne", "n", "haystack", "yst", "ys", "haystacks", "a", "team", "漢", "漢字漢"}) {
    for (const bool descending : {true, false}) {
      for (const auto& filters :
           std::vector<std::vector<Condition>>{{},
                                               {field_is("channel", "odd")},
                                               {field_is("channel", "even"), field_is("sender", "s0")},
                                               {field_is("channel", "even"), field_is("channel", "odd")},
                                               {field_is("sender", "s1", Op::kContains)}}) {
        auto conditions = filters;
        conditions.push_back(text_is(term));
        auto q = messages_where(group(Kind::kAllOf, conditions));
        q.descending = descending;
        q.limit = 20;
        INFO(term << " with " << filters.size() << " filters");
        compare(naive, *reader, q);
        q.from_ms = 30;
        q.to_ms = 1500;
        compare(naive, *reader, q);
        q.rare = true;
        compare(naive, *reader, q);
      }
    }
  }
  const auto either = group(Kind::kAnyOf, {text_is("needle"), text_is("haystack")});
  compare(naive, *reader, messages_where(either));
  compare(naive, *reader, messages_where(group(Kind::kAllOf, {either, group(Kind::kNoneOf, {text_is("team")})})));
}

TEST_CASE("pairs of short terms, through changes and removals: the same as a naive evaluation") {
  ReplicaFixture r;
  World world(20'261'124);
  Naive naive;
  // Rarely both: rows in turn would find them late, so that the index is read.
  const std::vector<std::string> pieces{"q", "qx", "qxj", "j", "jx", "漢", "漢字", "é", "xq "};
  const auto piece = [&] { return pieces[world.below(static_cast<std::uint32_t>(pieces.size()))]; };
  const auto put = [&](SyncSession& session, int id) {
    auto record = message(std::to_string(id), id / 2, "hay");
    if (world.below(12) == 0) record.text += " " + piece() + (world.below(2) == 0 ? "" : piece());
    if (world.below(12) == 0) record.text += "\x1f" + piece();
    session.put(record);
    naive.put(record);
  };
  const auto session = r.store->begin_session();
  constexpr int rows = 8000;
  for (int i = 0; i < rows; ++i) {
    put(*session, i);
    if (i % 200 == 199) session->commit();
  }
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 200; ++i) put(*session, static_cast<int>(world.below(rows)));
    for (int i = 0; i < 20; ++i) {
      const auto id = std::to_string(world.below(rows));
      session->erase("messages", id);
      naive.erase(id);
    }
    session->commit();
    auto reader = r.store->reader();
    for (int i = 0; i < 20; ++i) {
      const auto kind = std::array{Kind::kAllOf, Kind::kAllOf, Kind::kAnyOf}[world.below(3)];
      std::vector<Condition> conditions{group(kind, {text_is(piece()), text_is(piece())})};
      if (world.below(4) == 0) conditions.push_back(text_is(world.below(2) == 0 ? "hay " : piece()));
      if (world.below(4) == 0) conditions.push_back(group(Kind::kNoneOf, {text_is(piece())}));
      if (world.below(4) == 0) conditions.push_back(field_is("channel", "general"));
      auto q = messages_where(group(Kind::kAllOf, std::move(conditions)));
      q.descending = world.below(2) == 0;
      q.limit = 1 + world.below(40);
      if (world.below(3) == 0) q.from_ms = world.below(rows / 2);
      if (world.below(3) == 0) q.to_ms = world.below(rows / 2);
      INFO("round " << round << ", search " << i);
      compare(naive, *reader, q);
    }
  }
  check_index(r.file);
}

TEST_CASE("a list that turns out not to pay is left out, and what it would have excluded is not shown") {
  ReplicaFixture r;
  const auto session = r.store->begin_session();
  for (int i = 0; i < 8000; ++i) {
    // Of the newest rows the first term seems to have more than it has.
    const auto* text = i == 900 ? "zq jx" : i == 901 ? "zq" : i % 12 == 0 ? "jx" : "hay";
    session->put(message(std::to_string(i), i, text));
    if (i % 200 == 199) session->commit();
  }
  session->commit();
  CHECK(ask(*r.store->reader(), messages_where(group(Kind::kAllOf, {text_is("zq"), text_is("jx")}))).ids ==
        std::vector<std::string>{"900"});
}

TEST_CASE("a change of plan neither loses the next row nor gives one twice") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  // Neighbouring keys: all of one millisecond. The plan is thought over after 512 rows, from either end.
  constexpr int rows = 3000;
  std::vector<std::string> expected;
  for (int i = 0; i < rows; ++i) {
    const bool hit = (i >= 505 && i < 520) || (i >= rows - 520 && i < rows - 505);
    const auto id = std::to_string(10'000 + i);
    session->put(message(id, 7, hit ? "needle" : "hay"));
    if (hit) expected.push_back(id);
  }
  session->commit();
  auto reader = r.store->reader();
  for (const auto* term : {"needle", "need", "ne"}) {
    auto q = messages_where(text_is(term));
    CHECK(ask(*reader, q).ids == expected);
    q.descending = false;
    auto reversed = ask(*reader, q).ids;
    std::reverse(reversed.begin(), reversed.end());
    CHECK(reversed == expected);
  }
}

TEST_CASE("a plan that gives rows in vain is changed on the way, and nothing is lost") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  // What the newest rows lack the plan asks for, which most of the older ones have; what those lack it has to learn.
  constexpr int rows = 5000;
  std::vector<std::string> expected;
  for (int i = 0; i < rows; ++i) {
    const int from_end = std::min(i, rows - 1 - i);  // the 32nd row that is given is 631
    const bool hit = from_end == 610 || from_end == 631 || from_end == 632 || i == 2000 || i == 2001;
    const bool at_an_end = from_end < 600;
    const auto id = std::to_string(10'000 + i);
    session->put(message(id, rows - i, hit ? "qwertzuiop" : at_an_end ? "tzuiop" : "qwertzu"));
    if (hit) expected.push_back(id);
    if (i % 500 == 499) session->commit();
  }
  session->commit();
  auto reader = r.store->reader();
  auto q = messages_where(text_is("qwertzuiop"));
  CHECK(ask(*reader, q).ids == expected);
  q.descending = false;
  auto reversed = ask(*reader, q).ids;
  std::reverse(reversed.begin(), reversed.end());
  CHECK(reversed == expected);
}

TEST_CASE("people by key: text, filter and order over many rows") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  for (int i = 0; i < 3000; ++i) {
    Record p;
    p.collection = "people";
    p.id = std::to_string(i);
    p.order_key = std::to_string((i * 7919) % 3000 + 1000);
    p.text = i % 300 == 0 ? "rare bird" : "common name";
    p.json = "{}";
    p.fields = {{"team", std::string(i % 2 == 0 ? "red" : "blue")}};
    session->put(p);
  }
  session->commit();
  auto reader = r.store->reader();
  Query q;
  q.collection = "people";
  q.descending = false;
  for (const auto* term : {"rare", "ra", "ird", "rare bird", "common", "nothing"}) {
    q.where = group(Kind::kAllOf, {text_is(term), field_is("team", "red")});
    const auto answer = ask(*reader, q);
    const std::size_t expected = term[0] == 'r' || term[0] == 'i' ? 10 : term[0] == 'c' ? 1490 : 0;
    CHECK(answer.ids.size() == std::min<std::size_t>(expected, 20));
    CHECK(answer.result.total == std::min<std::size_t>(expected, 1000));
    const auto key = [](const std::string& id) { return (std::stoi(id) * 7919) % 3000; };
    CHECK(std::is_sorted(answer.ids.begin(), answer.ids.end(), [&](auto& a, auto& b) { return key(a) < key(b); }));
  }
}

}  // namespace KRUXOS_TEST_FILE
