#include "core/capability/capability_handler.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "core/account/permission.hpp"
#include "core/capability/catalogue.hpp"
#include "core/capability/handler_test_support.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace handler_test;

TEST_CASE("a read is answered by the adapter, with its freshness") {
  Host host;
  host.connect();
  host.adapter->on_read = [](auto&, std::string_view capability, std::string_view params) {
    return Text(std::string("{\"of\":\"") + std::string(capability) + "\",\"params\":" + std::string(params) + "}");
  };
  host.replica->finish_pass(true, host.clock.wall_ms() - 1000);
  host.clock.advance(61'000);
  const auto answer = host.call("notes.search", R"({"query":"x"})");
  REQUIRE(type_of(answer) == "none");
  CHECK(to_json(answer["data"]["params"]["query"]) == json_string("x"));
  CHECK(to_json(answer["data"]["freshness"]["age_seconds"]) == "61");
  CHECK(text_of(answer, "content_trust") == "untrusted");
}

namespace {

void put_note(Replica& replica, const std::string& id, const std::string& json) {
  Record record;
  record.collection = "note";
  record.id = id;
  record.json = json;
  const auto session = replica.begin_session();
  session->put(record);
  session->commit();
}

void open_version(Host& host, std::int64_t version) {
  host.replica = std::make_shared<Replica>(
      host.scratch.path() / "replica.db",
      std::vector<CollectionSpec>{{"note", version, CollectionSpec::Order::kTime, true, {}}}, host.clock);
  host.connect();
}

/// As an adapter that takes what `member` says, and fails where a row has no such one.
std::function<Text(ReplicaReader&)> notes_by(const std::string& member) {
  return [member](ReplicaReader& reader) -> Text {
    std::string ids;
    bool broken = false;
    Query query;
    query.collection = "note";
    reader.query(query, [&](const RowView& row) {
      broken = broken || row.json.find(member) == std::string_view::npos;
      ids += row.id;
      return true;
    });
    if (broken) return CallFailure{KRUX_INTERNAL, false, {}, "A record lacks a member.", std::nullopt};
    return "{\"ids\":\"" + ids + "\"}";
  };
}

}  // namespace

TEST_CASE("while a collection is built anew, reads say how fresh the rows are that they were answered from") {
  Host host;
  put_note(*host.replica, "a", R"({"old":1})");
  host.replica->finish_pass(true, host.clock.wall_ms());
  host.clock.advance(61'000);
  open_version(host, 2);
  put_note(*host.replica, "b", R"({"new":1})");
  const auto ask = [&] { return host.call("notes.search", R"({"query":"x"})"); };
  const auto age = [](const JsonDocument& answer) { return to_json(answer["data"]["freshness"]["age_seconds"]); };
  host.adapter->on_rows = notes_by("old");
  CHECK(text_of(ask(), "ids") == "a");
  CHECK(age(ask()) == "61");
  // An adapter that can make nothing of the rows of another version is asked with those of its own.
  host.adapter->on_rows = notes_by("new");
  const auto answer = ask();
  CHECK(text_of(answer, "ids") == "b");
  CHECK(answer["data"]["freshness"]["synced_at"].IsNull());
  CHECK(answer["data"]["freshness"]["complete_through"].IsNull());
  CHECK(age(answer) == "null");
  host.adapter->on_rows = notes_by("neither");
  CHECK(message_of(ask()) == "A record lacks a member.");
  host.adapter->on_rows = notes_by("new");
  host.replica->finish_pass(true, host.clock.wall_ms());
  CHECK(text_of(ask(), "ids") == "b");
  CHECK(age(ask()) == "0");
  host.adapter->on_rows = [](ReplicaReader&) { return Text(std::string("{}")); };
  CHECK(age(ask()) == "0");
}

TEST_CASE("the writes that a replica may not have yet are shown while a new collection is filled") {
  Host host;
  host.replica->finish_pass(true, host.clock.wall_ms());
  host.connect();
  host.executor.start();
  host.clock.advance(1'000);
  REQUIRE(type_of(host.call("notes.mark", R"({"title":"t"})")) == "none");
  host.clock.advance(1'000);
  host.replica->finish_pass(false, host.clock.wall_ms());
  const auto pending = [&] {
    const auto answer = host.call("notes.search");
    return answer["data"].HasMember("pending_writes");
  };
  const auto other = std::vector<CollectionSpec>{{"note", 1, CollectionSpec::Order::kTime, true, {}},
                                                 {"more", 1, CollectionSpec::Order::kTime, true, {}}};
  host.replica = std::make_shared<Replica>(host.scratch.path() / "replica.db", other, host.clock);
  host.connect();
  CHECK(pending());
  host.replica->finish_pass(true, host.clock.wall_ms());
  CHECK_FALSE(pending());
}

TEST_CASE("only a read that fetches may send and keep, and a write's names are resolved without a request") {
  Host host;
  host.connect();
  std::map<std::string, Sends> sends;
  host.adapter->on_read = [&](const auto& call, std::string_view capability, auto) {
    sends[std::string(capability)] = call->owner().sends;
    return Text(std::string("{}"));
  };
  host.adapter->on_resolve = [&](const auto& call, std::string_view operation, auto params) {
    sends[std::string(operation)] = call->owner().sends;
    return Text(std::string(params));
  };
  host.call("notes.search");
  host.call("notes.fetch");
  host.call("notes.add", R"({"title":"a"})");
  CHECK(sends == std::map<std::string, Sends>{
                     {"notes.search", Sends::kNothing}, {"notes.fetch", Sends::kSafe}, {"notes.add", Sends::kNothing}});
}

TEST_CASE("a read's failures are told in the documented types") {
  Host host;
  CHECK(type_of(host.call("notes.search")) == "NotConnected");
  host.connect();
  Text result = std::string("nonsense");
  host.adapter->on_read = [&](auto&, auto, auto) { return result; };
  CHECK(type_of(host.call("notes.search")) == "ServiceUnavailable");
  result = CallFailure{KRUX_NOT_FOUND, true, {}, "There is no such note.", std::nullopt};
  const auto answer = host.call("notes.search");
  CHECK(type_of(answer) == "MessageNotFound");
  CHECK(message_of(answer) == "There is no such note.");
  result = CallFailure{KRUX_REFUSED, true, ErrorType::named("NoteLocked"), "Locked.", std::nullopt};
  CHECK(to_json(host.call("notes.search")["error"]["recovery"][0]["action"]) == json_string("unlock"));
  CHECK(type_of(host.call("notes.search", R"({"query":7})")) == "InvalidInput");
}

TEST_CASE("an account without a replica answers with an error") {
  Host host;
  host.replica = nullptr;
  host.connect();
  CHECK(type_of(host.call("notes.search")) == "NotConnected");
  CHECK(type_of(host.call("notes.add", R"({"title":"a"})")) == "NotConnected");
}

TEST_CASE("a read that hangs costs its own call only, and two of them the adapter's service") {
  Host host;
  host.connect();
  std::promise<void> release;
  const auto released = release.get_future().share();
  std::atomic<int> entered{0};
  host.adapter->on_read = [released, &entered](auto&, auto, auto) {
    ++entered;
    released.wait();
    return Text(std::string("{\"late\":true}"));
  };
  for (int i = 0; i < 2; ++i) {
    auto begun = host.begin("notes.search");
    // A call that has not reached the adapter when its time is over says nothing about the adapter.
    while (entered == i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto answer = Host::document(host.answer_by_advancing(std::move(begun), 1000));
    CHECK(type_of(answer) == "Timeout");
    CHECK(to_json(answer["error"]["retryable"]) == "true");
  }
  CHECK(host.health->quarantined());
  const auto answer = host.call("notes.search");
  CHECK(type_of(answer) == "ServiceUnavailable");
  CHECK_THAT(message_of(answer), Catch::Contains("out of service"));
  release.set_value();
}

TEST_CASE("a read that may fetch has the definition's time, others the host's") {
  Host host;
  host.connect();
  std::int64_t left = 0;
  host.adapter->on_read = [&](const CallContextPtr& on, auto, auto) {
    left = on->left_ms();
    return Text(std::string("{}"));
  };
  host.call("notes.search");
  CHECK(left == 10'000);
  host.call("notes.fetch");
  CHECK(left == 60'000);
}

TEST_CASE("tiers: approval_required waits for a person, blocked does not run") {
  Host host;
  host.connect();
  const auto answer = host.call("notes.ask");
  CHECK(type_of(answer) == "ApprovalRequired");
  CHECK_THAT(message_of(answer), Catch::Contains("waits for a person's approval"));
  CHECK(type_of(host.call("notes.wipe")) == "OperationBlocked");
  const auto writes = host.writes.ledger.list({});
  REQUIRE(writes.size() == 1);
  CHECK(writes[0].state == WriteState::kPendingApproval);
  CHECK(writes[0].approval_reason == "Every notes.ask needs a person's approval.");
}

TEST_CASE("a capability that is not there is refused with the nearest one") {
  Host host;
  host.connect();
  CHECK_THAT(message_of(host.call("notes.serach")), Catch::Contains("did you mean \"notes.search\"?"));
  CHECK(type_of(host.call("")) == "InvalidInput");
  CHECK(type_of(host.call(std::string(5000, 'x'))) == "InvalidInput");
  CHECK(type_of(host.call("notes.search", "[")) == "InvalidInput");
  CHECK(type_of(host.call("notes.search", "[]")) == "InvalidInput");
}

TEST_CASE("scopes that an account lacks hide the capability and refuse the call") {
  Host host;
  const auto listed = [&](const char* name) { return host.handler.list_json("tester", {"", "", name}) != "[]"; };
  CHECK_FALSE(listed("notes.add"));  // nothing is connected
  host.connect("N1", {"read"});
  CHECK(listed("notes.search"));
  CHECK_FALSE(listed("notes.add"));
  const auto answer = host.call("notes.add", R"({"title":"a"})");
  CHECK(type_of(answer) == "OperationBlocked");
  CHECK_THAT(message_of(answer), Catch::Contains("was not granted: write"));
  host.connect("N2", {"read", "write"});
  CHECK(listed("notes.add"));
  CHECK(type_of(host.call("notes.search")) == "InvalidInput");
  CHECK(type_of(host.call("notes.add", R"({"title":"a","account":"N2"})")) == "none");
}

TEST_CASE("lists are filtered, and hold neither blocked capabilities nor services that are not loaded") {
  Host host;
  host.connect();
  const auto names = [&](const std::string& category, const std::string& tag, const std::string& part) {
    std::vector<std::string> all;
    const auto list = parse_json(host.handler.list_json("tester", {category, tag, part}), "list");
    for (const auto& item : list.GetArray()) all.emplace_back(item["name"].GetString());
    return all;
  };
  CHECK(names("", "", "").size() == 37);
  CHECK(names("proxy", "", "") == std::vector<std::string>{"proxy.cancel_write", "proxy.edit_write", "proxy.rollback",
                                                           "proxy.write_status", "proxy.list_writes"});
  CHECK(names("alerts", "", "") == std::vector<std::string>{"alerts.send", "alerts.list", "alerts.acknowledge"});
  CHECK(names("agent", "", "").size() == 4);
  CHECK(names("state", "", "").size() == 16);
  CHECK(names("state", "", "state.session") == std::vector<std::string>{"state.session.get", "state.session.set",
                                                                        "state.session.delete", "state.session.list",
                                                                        "state.session.clear"});
  CHECK(names("notes", "write", "") == std::vector<std::string>{"notes.add"});
  CHECK(names("", "", "wipe").empty());
  CHECK_FALSE(host.handler.describe_json("tester", "notes.wipe"));
  CHECK_FALSE(host.handler.describe_json("tester", "nothing"));
  host.accounts.set_services({});
  CHECK(names("notes", "", "").empty());
  CHECK(type_of(host.call("notes.search")) == "InvalidInput");
}

TEST_CASE("a description has inputs, outputs, errors and recovery") {
  Host host;
  host.connect();
  const auto d = parse_json(*host.handler.describe_json("tester", "notes.add"), "description");
  CHECK(to_json(d["name"]) == json_string("notes.add"));
  CHECK(to_json(d["category"]) == json_string("notes"));
  CHECK(to_json(d["permission_tier"]) == json_string("notify"));
  CHECK(to_json(d["delay_seconds"]) == "30");
  CHECK(to_json(d["inputs"][0]["name"]) == json_string("title"));
  CHECK(to_json(d["inputs"][0]["required"]) == "true");
  CHECK(d["inputs"].Size() == 6);
  CHECK(to_json(d["outputs"][0]["name"]) == json_string("write_id"));
  bool unknown = false, locked = false;
  for (const auto& error : d["errors"].GetArray()) {
    unknown = unknown || (to_json(error["type"]) == json_string("OutcomeUnknown") && error["recovery"].Size() > 0);
    locked = locked || to_json(error["type"]) == json_string("NoteLocked");
  }
  CHECK(unknown);
  CHECK(locked);
  CHECK_FALSE(parse_json(*host.handler.describe_json("tester", "notes.search"), "d").HasMember("delay_seconds"));
  CHECK_FALSE(parse_json(*host.handler.describe_json("tester", "notes.search"), "d").HasMember("takes_up_to_seconds"));
  CHECK(to_json(parse_json(*host.handler.describe_json("tester", "notes.fetch"), "d")["takes_up_to_seconds"]) == "60");
  CHECK(host.handler.takes_long("notes.fetch") == TakesLong::kMay);
  CHECK(host.handler.takes_long("notes.search") == TakesLong::kNo);
  CHECK(host.handler.takes_long("nothing") == TakesLong::kNo);
  for (const char* name : {"notes.cancel", "notes.ask", "proxy.list_writes"})
    CHECK(host.handler.describe_json("tester", name));
}

TEST_CASE("calls from many threads are each answered once") {
  Host host;
  host.connect();
  host.executor.start();
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        const auto title = std::to_string(t) + "-" + std::to_string(i);
        good += type_of(host.call("notes.search")) == "none";
        good += text_of(host.call("notes.mark", "{\"title\":\"" + title + "\"}"), "status") == "ok";
        good += text_of(host.call("notes.add", "{\"title\":\"" + title + "\"}"), "status") == "buffered";
        good += host.handler.list_json("tester", {}).size() > 2;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(good == 160);
}

TEST_CASE("a profile leaves capabilities out, whatever the scopes allow") {
  Host host;
  auto definition = parse_definition(kDefinition, "notes.yaml");
  const auto write = std::find_if(definition.capabilities.begin(), definition.capabilities.end(), [](const auto& c) {
                       return c.kind == CapabilityKind::kWrite;
                     })->name;
  definition.oauth.profiles = {{"draft", "", {"read", "write"}, {write}}, {"full", "", {"read", "write"}, {}}};
  const auto connect = [&](const std::string& profile) {
    host.connect();
    auto account = std::make_shared<ActiveAccount>(*host.accounts.accounts().front());
    account->definition = std::make_shared<ServiceDefinition>(definition);
    account->profile = profile;
    host.accounts.publish(account);
  };
  const auto lists = [&] {
    return host.handler.list_json("tester", {}).find("\"" + write + "\"") != std::string::npos;
  };
  connect("full");
  CHECK(lists());
  connect("draft");
  CHECK_FALSE(lists());
  CHECK(type_of(host.call(write, R"({"title":"a"})")) == "PolicyDenied");
  connect("gone");  // of a definition that has changed since
  CHECK(type_of(host.call(write, R"({"title":"a"})")) == "PolicyDenied");
}

TEST_CASE("a scope that includes another one grants it") {
  Host host;
  auto definition = parse_definition(kDefinition, "notes.yaml");
  definition.oauth.implied_scopes = {{"all", {"read", "write"}}};
  host.connect("N1", {"all"});
  const auto* capability = definition.find("notes.search");
  REQUIRE(capability);
  auto account = std::make_shared<ActiveAccount>(*host.accounts.accounts().front());
  CHECK_FALSE(missing_scopes(*capability, *account).empty());
  account->definition = std::make_shared<ServiceDefinition>(definition);
  CHECK(missing_scopes(*capability, *account).empty());
}

TEST_CASE("a model gets each value once, and as much of a read as it takes") {
  Host host;
  host.connect();
  host.for_model = true;
  const auto added = host.call("notes.add", R"({"title":"a"})");
  CHECK(added["data"].HasMember("cancel_deadline"));
  CHECK_FALSE(added["data"].HasMember("buffer_id"));
  host.adapter->on_read = [](auto&, auto, auto) {
    std::string notes;
    for (int i = 0; i < 100; ++i) notes += (i > 0 ? ",\"" : "\"") + std::string(2'000, 'x') + '"';
    return Text(R"({"notes":[)" + notes + "]}");
  };
  const auto page = host.call("notes.search");
  CHECK(page["data"]["notes"].Size() < 20);
  CHECK(find_bool(page["data"], "page_is_cut") == true);
  CHECK(page["data"].HasMember("freshness"));
  host.for_model = false;
  CHECK(host.call("notes.search")["data"]["notes"].Size() == 100);
}

TEST_CASE("a result says whether it was read from a service, and who may read it there") {
  Host host;
  host.connect();
  CHECK(host.begin("notes.search").get().read_of == Confidentiality::kPrivate);
  CHECK(host.begin("notes.add", R"({"title":"a"})").get().read_of == std::nullopt);
  CHECK(host.begin("proxy.list_writes").get().read_of == std::nullopt);
}

}  // namespace KRUXOS_TEST_FILE
