// kruxos/testing.hpp's store beside the host's replica: the same operations, by the same C++ face, with the same
// answers.
#include <catch2/catch.hpp>
#include <kruxos/testing.hpp>
#include <random>

#include "core/replica/replica.hpp"
#include "core/util/clock.hpp"
#include "host/plugins/abi_bridge/lent_store.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

namespace {

const std::vector<kruxos::Collection> kCollections{
    {"messages", 1, kruxos::Order::kTime, true, {{"channel"}, {"sender"}, {"stars", kruxos::FieldType::kInteger}}},
    {"people", 1, kruxos::Order::kKey, true, {{"team"}}},
    {"letters", 1, kruxos::Order::kTime, true, {}, {}, true, {{"subject"}, {"sender", true}}},
    {"silent", 1, kruxos::Order::kTime, false, {}}};

/// Letters that both fold, and what is easily mistaken.
const std::vector<std::string> kPieces{
    "a",    "B",    "the", "Meeting", "team", " ", "straße", "STRASSE", "É", "é",  "Σίσυφος", "ΣΊΣΥΦΟΣ", "Ж",     "ж",
    "Ёлка", "漢字", "😀",   "\"",      "'",    "%", "_",      "*",       "(", "OR", "\x1f",    "\uE000",  "\uF8FF"};

/// Both stores, and one sync step on each.
class Twins {
 public:
  Twins() {
    const auto json = kruxos::detail::to_json(kruxos::Description{kCollections, {}});
    specs_ = krux::parse_collections(json);
    const std::chrono::seconds enough(100);
    store_ =
        std::make_unique<krux::Replica>(scratch_.path() / "r.db", specs_, clock_, krux::SearchBudget{enough, enough});
    begin();
  }

  /// Ends the step on both: what was not committed is gone.
  void begin() {
    lent_.reset();
    call_.reset();
    session_ = store_->begin_session();
    const auto context = std::make_shared<krux::CallContext>(krux::CallOwner{}, clock_, clock_.boot_ms() + 3'600'000);
    call_ = std::make_unique<krux::LentCall>(context);
    lent_ = std::make_unique<krux::LentStore>(*call_, session_, specs_);
    fake.drop_uncommitted();
  }
  void advance(std::int64_t ms) {
    clock_.advance(ms);
    fake_clock_.advance(ms);
  }

  /// What came of it, from each, is the same.
  template <class Body>
  std::string both(const std::string& what, Body body) {
    kruxos::SyncStore real(lent_->table()), imitation = fake.store();
    auto expected = answer(body, real);
    const auto got = answer(body, imitation);
    if (expected != got) {
      INFO(what << "\n  host: " << expected << "\n  fake: " << got << "\n  "
                << (fake.refusals.empty() ? "" : fake.refusals.back()));
      CHECK(expected == got);
    }
    return expected;
  }

  kruxos::testing::FakeClock fake_clock_;
  kruxos::testing::FakeStore fake{fake_clock_, kCollections};

 private:
  template <class Body>
  static std::string answer(Body& body, kruxos::SyncStore& store) {
    try {
      return body(store);
    } catch (const kruxos::ProxyError& e) {
      return "error " + std::to_string(static_cast<int>(e.kind()));
    }
  }

  support::Scratch scratch_;
  krux::DrivenClock clock_;
  std::vector<krux::CollectionSpec> specs_;
  std::unique_ptr<krux::Replica> store_;
  std::shared_ptr<krux::SyncSession> session_;
  std::unique_ptr<krux::LentCall> call_;
  std::unique_ptr<krux::LentStore> lent_;
};

std::string rows_of(const kruxos::Reader& reader, const kruxos::Query& query) {
  std::string out;
  const auto result = reader.query(query, [&](const kruxos::Row& row) {
    out += std::string(row.id) + " " + std::to_string(row.order_ms) + " " + std::to_string(row.synced_at_ms) + " " +
           std::string(row.json) + "\n";
    return true;
  });
  return out + std::to_string(result.total) + (result.total_is_lower_bound ? "+" : "") + (result.incomplete ? "?" : "");
}

class World {
 public:
  explicit World(std::uint32_t seed) : random_(seed) {}
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  bool seldom() { return below(25) == 0; }

  std::string text(std::uint32_t pieces) {
    std::string out;
    for (auto n = below(pieces + 1); n > 0; --n) out += kPieces[below(static_cast<std::uint32_t>(kPieces.size()))];
    return out;
  }
  std::string id() { return "id" + std::to_string(below(60)); }
  std::string collection() {
    return seldom() ? "nothing" : std::array{"messages", "messages", "people", "silent", "letters"}[below(5)];
  }

  kruxos::Record record() {
    kruxos::Record r;
    r.collection = collection();
    r.id = id();
    r.json = "{\"v\":" + std::to_string(below(1000)) + "}";
    if (r.collection != "silent") r.text = text(8);
    r.order_ms = below(40);
    r.order_key = text(2);
    r.scope = "s" + std::to_string(below(3));
    r.generation = below(5);
    if (r.collection == "people" && below(2) == 0) r.fields.emplace_back("team", text(1));
    if (r.collection == "messages") {
      if (below(2) == 0) r.fields.emplace_back("channel", "c" + std::to_string(below(3)));
      if (below(2) == 0) r.fields.emplace_back("sender", text(2));
      if (below(2) == 0) r.fields.emplace_back("stars", static_cast<std::int64_t>(below(5)) - 2);
    }
    if (r.collection == "letters" || below(60) == 0) add_tags_and_texts(r);
    if (seldom()) spoil(r);
    return r;
  }

  kruxos::Condition condition(int depth) {
    switch (below(depth > 0 ? 7 : 4)) {
      case 0:
      case 1:
        return kruxos::contains_text(text(2));
      case 2:
        return kruxos::field_is(below(2) ? "channel" : "sender", op(), below(2) ? "c1" : text(1));
      case 3:
        return seldom() ? kruxos::field_eq("no_such", "x")
                        : kruxos::field_is("stars", op(), static_cast<std::int64_t>(below(6)) - 3);
      default: {
        std::vector<kruxos::Condition> children;
        for (auto n = below(4); n > 0; --n) children.push_back(condition(depth - 1));
        return {static_cast<std::int32_t>(KRUX_ALL_OF + below(3)), 0, {}, {}, 0, std::move(children)};
      }
    }
  }

  kruxos::Query query() {
    kruxos::Query q;
    q.collection = collection();
    if (q.collection == "messages") q.where = condition(3);
    if (q.collection == "people" && below(2)) q.where = kruxos::contains_text(text(2));
    if (q.collection == "letters" || seldom()) q.where = letter_condition(2);
    if (q.collection == "silent" && seldom()) q.where = kruxos::contains_text("x");
    q.descending = below(2) == 0;
    if (below(3) == 0) q.from_ms = below(40);
    if (below(3) == 0) q.to_ms = below(40);
    q.limit = seldom() ? 10'001 : below(30);
    q.offset = below(10);
    q.count_limit = below(2) * below(50);
    return q;
  }

 private:
  std::string text_name() { return seldom() ? "no_such" : below(2) ? "subject" : "sender"; }
  std::string tag() { return "t" + std::to_string(below(6)); }

  void add_tags_and_texts(kruxos::Record& r) {
    for (auto n = below(4); n > 0; --n) r.tag(tag());
    for (auto n = below(4); n > 0; --n) r.named_text(text_name(), text(3));
    if (below(40) == 0) r.tag(below(2) ? "" : std::string(255, 'x') + "\xff");
    if (below(40) == 0) r.named_text("sender", std::string(1 << 20, 'x'));
  }

  kruxos::Condition letter_condition(int depth) {
    switch (below(depth > 0 ? 6 : 4)) {
      case 0:
        return kruxos::contains_text(text(2));
      case 1:
        return kruxos::has_tag(seldom() ? "" : tag());
      case 2:
      case 3:
        return kruxos::text_of(text_name(), text(2));
      default: {
        std::vector<kruxos::Condition> children;
        for (auto n = below(4); n > 0; --n) children.push_back(letter_condition(depth - 1));
        return {static_cast<std::int32_t>(KRUX_ALL_OF + below(3)), 0, {}, {}, 0, std::move(children)};
      }
    }
  }

  std::int32_t op() { return seldom() ? 77 : static_cast<std::int32_t>(KRUX_EQ + below(7)); }

  void spoil(kruxos::Record& r) {
    switch (below(9)) {
      case 0:
        r.json =
            std::array{"", "[]", "{", R"({"a":1,"a":2})", R"({"a":"\u0000"})", "{}x", "{\"a\":\"\xff\"}"}[below(7)];
        break;
      case 1:
        r.id = std::array{std::string(), std::string(1025, 'x'), std::string("a\0b", 3), std::string("\xff")}[below(4)];
        break;
      case 2:
        r.scope = std::string(1025, 'x');
        break;
      case 3:
        r.order_ms = std::int64_t{1} << (43 + below(2));
        break;
      case 4:
        r.fields.emplace_back("no_such", "x");
        break;
      case 5:
        r.text = "in a collection without text, perhaps";
        break;
      case 6:
        r.text += '\xc3';
        break;
      case 7:
        r.fields.emplace_back("sender", "twice, perhaps");
        break;
      default:
        r.order_key = std::string("a\0", 2);
    }
  }

  std::mt19937 random_;
};

std::function<std::int64_t(char*, std::size_t)> bytes(const std::string& content, bool fails) {
  auto at = std::make_shared<std::size_t>(0);
  return [=](char* out, std::size_t capacity) -> std::int64_t {
    if (fails && *at > 0) return -1;
    const auto n = content.copy(out, std::min<std::size_t>(capacity, 3), *at);
    *at += n;
    return static_cast<std::int64_t>(n);
  };
}

void blob_change(Twins& twins, World& world) {
  const auto c = world.collection(), id = world.id();
  const std::string content = world.text(5);
  const auto total = std::array<std::int64_t, 3>{-1, static_cast<std::int64_t>(content.size()), 4}[world.below(3)];
  const bool fails = world.seldom();
  twins.both("put_blob " + c + " " + id, [&](kruxos::SyncStore& store) {
    store.put_blob(c, id, "body", total, bytes(content, fails));
    return std::string("ok");
  });
}

void change(Twins& twins, World& world) {
  const auto c = world.collection(), id = world.id();
  const auto what = world.below(12);
  if (what == 0) {
    twins.both("erase " + c, [&](auto& store) { return store.erase(c, id), std::string("ok"); });
  } else if (what == 1) {
    const auto scope = world.below(3) == 0 ? "" : "s" + std::to_string(world.below(3));
    const std::int64_t generation = world.below(5), from = world.below(40), to = world.below(40);
    twins.both("sweep " + c,
               [&](auto& store) { return store.sweep(c, scope, generation, from, to), std::string("ok"); });
  } else if (what == 2) {
    const auto key = world.seldom() ? std::string() : "k" + std::to_string(world.below(3));
    const auto value = world.seldom() ? std::string(70'000, 'x') : world.text(2);
    twins.both("set_cursor", [&](auto& store) { return store.set_cursor(key, value), std::string("ok"); });
  } else if (what == 3) {
    blob_change(twins, world);
  } else if (what == 4) {
    const auto text = world.seldom() ? std::string("\xff") : world.text(4);
    twins.both("keep_text " + c + " " + id,
               [&](auto& store) { return store.keep_text(c, id, text), std::string("ok"); });
  } else {
    const auto record = world.record();
    twins.both("put " + record.collection + " " + record.id,
               [&](auto& store) { return store.put(record), std::string("ok"); });
  }
}

void look(Twins& twins, World& world) {
  const auto query = world.query();
  twins.both("query of " + query.collection, [&](auto& store) { return rows_of(store.reader(), query); });
  const auto c = world.collection(), id = world.id(), key = "k" + std::to_string(world.below(3));
  twins.both("get", [&](auto& store) { return store.reader().get(c, id).value_or("none"); });
  twins.both("blob", [&](auto& store) { return store.reader().blob(c, id, "body").value_or("none"); });
  twins.both("cursor", [&](auto& store) { return store.cursor(key).value_or("none"); });
}

}  // namespace

TEST_CASE("The fake store does to random changes and queries what the host's replica does") {
  Twins twins;
  World world(20'261'122);
  for (int round = 0; round < 150; ++round) {
    INFO("round " << round);
    for (auto n = world.below(40); n > 0; --n) change(twins, world);
    if (world.below(5) != 0) twins.both("commit", [](auto& store) { return store.commit(), std::string("ok"); });
    for (int i = 0; i < 20; ++i) look(twins, world);
    twins.begin();
    twins.advance(1000);
  }
  CHECK(twins.fake.refusals.size() > 100);
  CHECK(twins.fake.rows("messages").size() > 10);
}

TEST_CASE("Records of one moment come in the same order from the fake and the host") {
  Twins twins;
  const auto put = [&](const std::string& collection, const std::string& id, std::int64_t order_ms) {
    kruxos::Record r;
    r.collection = collection;
    r.id = id;
    r.json = "{}";
    r.order_ms = order_ms;
    r.order_key = "same";
    twins.both("put", [&](auto& store) { return store.put(r), std::string("ok"); });
  };
  for (const auto* collection : {"messages", "people"}) {
    for (const auto* id : {"c", "a", "b"}) put(collection, id, 7);
    twins.both("commit", [](auto& store) { return store.commit(), std::string("ok"); });
    for (const auto* id : {"0", "a"}) put(collection, id, 7);
    put(collection, "b", 8);
    twins.both("commit", [](auto& store) { return store.commit(), std::string("ok"); });
    put(collection, "b", 7);
    twins.both("commit", [](auto& store) { return store.commit(), std::string("ok"); });
    for (const bool descending : {true, false}) {
      kruxos::Query q;
      q.collection = collection;
      q.descending = descending;
      const auto rows = twins.both("query", [&](auto& store) { return rows_of(store.reader(), q); });
      CHECK(rows.ends_with("\n4"));
    }
  }
}

TEST_CASE("Conditions beyond the host's bounds are refused by the fake too") {
  Twins twins;
  kruxos::Condition deep = kruxos::contains_text("x");
  for (int i = 0; i < 15; ++i) deep = kruxos::all_of({deep});
  kruxos::Query q;
  q.collection = "messages";
  q.where = deep;
  CHECK(twins.both("15 deep", [&](auto& store) { return rows_of(store.reader(), q); }) == "0");
  q.where = kruxos::none_of({deep});
  CHECK(twins.both("16 deep", [&](auto& store) { return rows_of(store.reader(), q); }).starts_with("error"));
  for (const std::size_t count : {999u, 1000u}) {
    q.where = kruxos::any_of(std::vector(count, kruxos::contains_text("x")));
    const auto answer = twins.both("many", [&](auto& store) { return rows_of(store.reader(), q); });
    CHECK((answer == "0") == (count == 999));
  }
  q.where = kruxos::field_is("stars", KRUX_CONTAINS, std::int64_t{1});
  CHECK(twins.both("contains", [&](auto& store) { return rows_of(store.reader(), q); }).starts_with("error"));
  q.where = {99, 0, {}, {}, 0, {}};
  CHECK(twins.both("kind", [&](auto& store) { return rows_of(store.reader(), q); }).starts_with("error"));
}

}  // namespace KRUXOS_TEST_FILE
