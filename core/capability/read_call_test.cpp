#include "core/capability/read_call.hpp"

#include <catch2/catch.hpp>

#include "core/util/error.hpp"
#include "core/util/json.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

constexpr std::int64_t kSynced = 1'700'000'000'000;

std::string finish(const std::string& result, const ReplicaFreshness& of = {}) {
  return finish_read(result, of, kSynced + 12'999, "notes");
}

std::string refusal(const std::string& result) {
  try {
    return "accepted: " + finish(result);
  } catch (const Error& e) {
    CHECK(e.type() == ErrorCode::kServiceUnavailable);
    return e.what();
  }
}

}  // namespace

TEST_CASE("a result gets its freshness and the mark of untrusted content, and stays as it was") {
  const ReplicaFreshness state{kSynced, kSynced - 1};
  CHECK(finish("{\"notes\":[1, {\"a\":null}] } \n", state) ==
        "{\"notes\":[1, {\"a\":null}] ,\"content_trust\":\"untrusted\",\"freshness\":{\"synced_at\":"
        "\"2023-11-14T22:13:20.000Z\",\"complete_through\":\"2023-11-14T22:13:19.999Z\",\"age_seconds\":12}}");
}

TEST_CASE("freshness says how many records are left out, where any are") {
  const auto document = parse_json(finish("{}", {kSynced, kSynced, 2}), "result");
  CHECK(to_json(document["freshness"]["left_out"]) == "2");
  CHECK(finish("{}", {kSynced, kSynced, 0}).find("left_out") == std::string::npos);
}

TEST_CASE("before the first sync the freshness is null, and an empty object stays valid") {
  for (const char* empty : {"{}", " { } ", "{\n}"}) {
    const auto document = parse_json(finish(empty), "result");
    CHECK(document["freshness"]["synced_at"].IsNull());
    CHECK(document["freshness"]["age_seconds"].IsNull());
    CHECK(to_json(document["content_trust"]) == json_string("untrusted"));
  }
}

TEST_CASE("the host's members are refused at the top, not below it") {
  CHECK_THAT(refusal(R"({"freshness":1})"), Catch::Contains("a member that the host adds"));
  CHECK_THAT(refusal(R"({"a":1,"content_trust":"trusted"})"), Catch::Contains("a member that the host adds"));
  CHECK_THAT(refusal(R"({"fresh\u006eess":1})"), Catch::Contains("a member that the host adds"));
  CHECK_THAT(refusal(R"({"a":"\u006e"})"), Catch::StartsWith("accepted"));
  CHECK_THAT(refusal(R"({"a":{"freshness":1},"b":"freshness"})"), Catch::StartsWith("accepted"));
}

TEST_CASE("pending writes tell a time once to a model, under all names to others, and what is not yet to nobody") {
  OpenWritesFound pending;
  OpenWrite waits;
  waits.write_id = "w_1";
  waits.operation = "notes.add";
  waits.state = WriteState::kPendingApproval;
  waits.created_at_ms = kSynced;
  auto buffered = waits;
  buffered.write_id = "w_2";
  buffered.state = WriteState::kBuffered;
  buffered.buffer_until_ms = kSynced + 30'000;
  pending.writes = {waits, buffered};
  const auto told = [&](WriteNames names) {
    return to_json(parse_json(finish_read("{}", {}, kSynced, "notes", pending, names), "result")["pending_writes"]);
  };
  const std::string begin = R"([{"write_id":"w_1","capability":"notes.add","status":"pending_approval","summary":"",)"
                            R"("created_at":"2023-11-14T22:13:20.000Z"},{"write_id":"w_2","capability":"notes.add",)"
                            R"("status":"buffered","summary":"","created_at":"2023-11-14T22:13:20.000Z",)";
  CHECK(told(WriteNames::kOne) == begin + R"("cancel_deadline":"2023-11-14T22:13:50.000Z"}])");
  CHECK(told(WriteNames::kAll) ==
        begin + R"("buffer_until":"2023-11-14T22:13:50.000Z","cancel_deadline":"2023-11-14T22:13:50.000Z"}])");
}

}  // namespace KRUXOS_TEST_FILE
