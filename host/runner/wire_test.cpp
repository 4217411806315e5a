// Frames and values: what goes in comes out, and any other bytes are refused, never more than that.
#include "host/runner/frame.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <random>
#include <vector>

#include "host/runner/wire_types.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

Query some_query() {
  Query query;
  query.collection = "items";
  Condition text;
  text.kind = Condition::Kind::kText;
  text.text = "grüße";
  Condition field;
  field.kind = Condition::Kind::kField;
  field.op = Condition::Op::kContains;
  field.field = "owner";
  field.number = -7;
  Condition tag;
  tag.kind = Condition::Kind::kTag;
  tag.text = "red";
  Condition named;
  named.kind = Condition::Kind::kNamedText;
  named.field = "subject";
  named.text = "dinner";
  query.where.children = {text, field, tag, named};
  query.limit = 100;
  return query;
}

Record some_record() {
  return {"items",
          "i1",
          R"({"a":1})",
          "text",
          "key",
          "scope",
          5,
          6,
          {{"owner", std::string("ann")}, {"size", std::int64_t{7}}},
          {"red"},
          {{"subject", "Dinner"}}};
}

std::vector<CollectionSpec> some_collections() {
  return {
      {"items", 1, CollectionSpec::Order::kKey, true, {{"owner"}}, "items/", true, {{"subject"}, {"sender", true}}}};
}

/// A good payload of every kind, and what reads it.
struct Sample {
  std::string bytes;
  std::function<void(WireReader&)> read;
};

template <class Put>
std::string made(Put&& put) {
  WireWriter out;
  put(out);
  return out.take();
}

std::vector<Sample> samples() {
  const AdapterWrite write{"w_1", "items.add", "{}", "{}", "", 2, 3, 4};
  const RollbackRequest rollback{"rb_1", "items.add", "{}", "{}", "{}", true};
  HttpRequest request;
  request.method = "POST";
  request.url = "things";
  request.headers = {{"X-A", "b"}};
  request.body = "body";
  const CallFailure failure{KRUX_REFUSED, true, ErrorType::named("TooLong"), "It is too long.", 5};
  const Identity identity{"T1", "Team", "me", {"a", "b"}, true};
  const WireAnswer answer{KRUX_INVALID, "no", 7, {3, true, false}, "tail"};
  return {
      {made([&](auto& o) { put_collections(o, some_collections()); }), [](auto& in) { get_collections(in); }},
      {made([&](auto& o) { put_write(o, write); }), [](auto& in) { get_write(in); }},
      {made([&](auto& o) { put_rollback(o, rollback); }), [](auto& in) { get_rollback(in); }},
      {made([&](auto& o) { put_record(o, some_record()); }), [](auto& in) { get_record(in); }},
      {made([&](auto& o) { put_query(o, some_query()); }), [](auto& in) { get_query(in); }},
      {made([&](auto& o) { put_http_request(o, request, false); }),
       [](auto& in) {
         bool streamed = false;
         get_http_request(in, streamed);
       }},
      {made([&](auto& o) { put_headers(o, request.headers); }), [](auto& in) { get_headers(in); }},
      {made([&](auto& o) { put_failure(o, failure); }), [](auto& in) { get_failure(in); }},
      {made([&](auto& o) {
         put_step(o, {SyncStep::Next::kWait, 5, 6, 1, 2});
       }),
       [](auto& in) { get_step(in); }},
      {made([&](auto& o) {
         put_found(o, {EffectFound::Answer::kFound, "{}", {}});
       }),
       [](auto& in) { get_found(in); }},
      {made([&](auto& o) { put_identity(o, identity); }), [](auto& in) { get_identity(in); }},
      {made([&](auto& o) { o.text("{\"a\":[1]}"); }), [](auto& in) { get_object(in, 100); }},
      {made([&](auto& o) { put_answer(o, answer); }), [](auto& in) { get_answer(in); }},
      {made([&](auto& o) {
         put_row(o, {"id", "{}", 1, 2});
       }),
       [](auto& in) { get_row(in); }},
  };
}

/// True when the bytes were taken. Whatever else than BadFrame comes fails the test.
bool takes(const Sample& sample, std::string_view bytes) {
  try {
    WireReader in(bytes);
    sample.read(in);
    in.end();
    return true;
  } catch (const BadFrame&) {
    return false;
  }
}

}  // namespace

TEST_CASE("what is written to a frame is read from it") {
  const auto bytes = made([](auto& o) { put_query(o, some_query()); });
  WireReader in(bytes);
  const auto query = get_query(in);
  in.end();
  CHECK(query.collection == "items");
  CHECK(query.limit == 100);
  CHECK(query.to_ms == std::numeric_limits<std::int64_t>::max());
  REQUIRE(query.where.children.size() == 4);
  CHECK(query.where.children[2].kind == Condition::Kind::kTag);
  CHECK(query.where.children[2].text == "red");
  CHECK(query.where.children[3].kind == Condition::Kind::kNamedText);
  CHECK(query.where.children[3].field == "subject");
  CHECK(query.where.children[0].text == "grüße");
  CHECK(query.where.children[1].op == Condition::Op::kContains);
  CHECK(query.where.children[1].number == -7);

  const auto row = made([](auto& o) { put_record(o, some_record()); });
  WireReader in_row(row);
  const auto record = get_record(in_row);
  CHECK(record.scope == "scope");
  CHECK(std::get<std::int64_t>(record.fields.at(1).second) == 7);
  CHECK(record.tags == std::vector<std::string>{"red"});
  CHECK(record.texts == some_record().texts);
  for (const auto& sample : samples()) CHECK(takes(sample, sample.bytes));

  const auto declared = made([](auto& o) { put_collections(o, some_collections()); });
  WireReader in_collections(declared);
  const auto collections = get_collections(in_collections);
  CHECK(collections.at(0).tags);
  CHECK(collections.at(0).texts.at(1).name == "sender");
  CHECK(collections.at(0).texts.at(1).exact);
  CHECK_FALSE(collections.at(0).texts.at(0).exact);
}

TEST_CASE("a frame that ends early or late is refused") {
  for (const auto& sample : samples()) {
    const WireReader whole(sample.bytes);
    for (std::size_t size = 0; size < sample.bytes.size(); ++size) takes(sample, sample.bytes.substr(0, size));
    CHECK_FALSE(takes(sample, std::string_view(sample.bytes).substr(0, 1)));
  }
  const auto record = made([](auto& o) { put_record(o, some_record()); });
  const auto longer = record + "x";
  WireReader in(longer);
  get_record(in);
  CHECK_THROWS_AS(in.end(), BadFrame);
}

TEST_CASE("values that no honest side sends are refused") {
  const auto refused = [](const std::string& bytes, auto&& read) {
    WireReader in(bytes);
    CHECK_THROWS_AS(read(in), BadFrame);
  };
  refused(made([](auto& o) { o.u8(2); }), [](auto& in) { in.flag(); });
  refused(made([](auto& o) { o.text("a\xff"); }), [](auto& in) { in.text(10); });
  refused(made([](auto& o) { o.text(std::string_view("a\0b", 3)); }), [](auto& in) { in.text(10); });
  refused(made([](auto& o) { o.text("too long"); }), [](auto& in) { in.text(3); });
  refused(made([](auto& o) { o.u32(0xFFFFFFFF); }), [](auto& in) { in.bytes(kLargestFrame); });
  refused(made([](auto& o) { o.text("[1]"); }), [](auto& in) { get_object(in, 100); });
  refused(made([](auto& o) { put_failure(o, {KRUX_OK, true, {}, "", {}}); }), [](auto& in) { get_failure(in); });
  refused(made([](auto& o) { put_step(o, {SyncStep::Next::kDone, -1, 0, 0, 0}); }), [](auto& in) { get_step(in); });
  refused(made([](auto& o) { put_identity(o, {}); }), [](auto& in) { get_identity(in); });
  Query deep;
  auto* at = &deep.where;
  for (int i = 0; i < 100; ++i) at = &at->children.emplace_back();
  refused(made([&](auto& o) { put_query(o, deep); }), [](auto& in) { get_query(in); });
  // What may be strange and is cleaned.
  const auto odd =
      made([](auto& o) { o.u32(KRUX_REFUSED).flag(true).text("no name!").text("a\x1b[31m").optional(-5); });
  WireReader in(odd);
  const auto failure = get_failure(in);
  CHECK_FALSE(failure.type);
  CHECK(failure.message == "a\\x1b[31m");
  CHECK(failure.retry_after_ms == 0);
}

TEST_CASE("any bytes whatever are taken or refused, and nothing else") {
  std::mt19937 random(20261122);
  const auto all = samples();
  int taken = 0;
  for (int round = 0; round < 20'000; ++round) {
    const auto& sample = all[random() % all.size()];
    auto bytes = sample.bytes;
    const auto changes = 1 + random() % 4;
    for (std::size_t i = 0; i < changes && !bytes.empty(); ++i) {
      const auto at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes.erase(at);
          break;
        case 2:
          bytes.insert(at, std::string(random() % 40, static_cast<char>(random())));
          break;
        default:
          bytes[at] = static_cast<char>(0xFF);
      }
    }
    taken += takes(sample, bytes);
  }
  CHECK(taken > 100);
  CHECK(taken < 19'000);
}

TEST_CASE("a stream is cut into frames, however it arrives") {
  std::string stream;
  for (std::uint64_t i = 0; i < 50; ++i) {
    stream += frame_bytes(FrameKind::kRequest, i, 2 * i, std::string(static_cast<std::size_t>(i * 7), 'p'));
  }
  std::mt19937 random(7);
  FrameCutter cutter;
  std::uint64_t next = 0;
  for (std::size_t at = 0; at < stream.size();) {
    const auto size = std::min<std::size_t>(1 + random() % 50, stream.size() - at);
    cutter.add(std::string_view(stream).substr(at, size));
    at += size;
    while (const auto frame = cutter.next()) {
      CHECK(frame->call == next);
      CHECK(frame->request == 2 * next);
      CHECK(frame->payload.size() == next * 7);
      ++next;
    }
  }
  CHECK(next == 50);
}

TEST_CASE("a stream of any bytes ends in a bad frame or waits for more") {
  std::mt19937 random(99);
  int bad = 0;
  for (int round = 0; round < 2'000; ++round) {
    std::string bytes(random() % 200, '\0');
    for (auto& byte : bytes) byte = static_cast<char>(random() % 3 == 0 ? random() : 0);
    FrameCutter cutter;
    cutter.add(bytes);
    try {
      while (cutter.next()) {
      }
    } catch (const BadFrame&) {
      ++bad;
    }
  }
  CHECK(bad > 1'000);
  const auto refuses = [](const std::string& bytes) {
    FrameCutter cutter;
    cutter.add(bytes);
    CHECK_THROWS_AS(cutter.next(), BadFrame);
  };
  refuses(made([](auto& o) { o.u32(0xFFFFFFFF); }));
  refuses(made([](auto& o) { o.u32(16); }));
  refuses(made([](auto& o) { o.u32(17).u8(200).u64(0).u64(0); }));
  CHECK_THROWS_AS(frame_bytes(FrameKind::kCall, 1, 1, std::string(kLargestFrame, 'x')), std::length_error);
}

}  // namespace KRUXOS_TEST_FILE
