#include "emulators/slack/api.hpp"

#include <catch2/catch.hpp>

#include "emulators/common/outcome.hpp"
#include "emulators/slack/control.hpp"
#include "emulators/slack/testing.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test::slack;

namespace {

struct Emulated {
  State state{driven_settings()};
  Api api{state, [](std::int64_t, std::function<void()> work) { work(); }};
  Control control{state, api};

  Emulated() { tell("POST", "seed", R"({"channels": 1, "users": 1, "messages_per_channel": 2})"); }

  std::shared_ptr<Outcome> call(const std::string& method, const std::string& form = "") {
    HttpRequest request;
    request.method = "POST";
    request.path = "/api/" + method;
    request.headers = {{"authorization", std::string("Bearer ") + kToken},
                       {"content-type", "application/x-www-form-urlencoded"}};
    request.body = form;
    auto outcome = std::make_shared<Outcome>();
    api.handle(request, outcome);
    return outcome;
  }
  std::shared_ptr<Outcome> post(const std::string& text = "x") {
    return call("chat.postMessage", "channel=C0GEN00000&text=" + text);
  }
  HttpAnswer tell(const std::string& verb, const std::string& what, const std::string& json = "") {
    HttpRequest request;
    request.method = verb;
    request.path = "/_emulator/" + what.substr(0, what.find('?'));
    if (what.find('?') != std::string::npos) request.query = what.substr(what.find('?') + 1);
    request.body = json;
    return control.handle(request);
  }
  void fault(const std::string& json) { REQUIRE(tell("POST", "fault", json).status == 200); }
  std::int64_t posts() const { return state.workspace->effects.posts; }
};

}  // namespace

TEST_CASE("faults before the effect leave none") {
  Emulated emulated;
  emulated.fault(R"({"method": "chat.postMessage", "kind": "http_status", "status": 502})");
  emulated.fault(R"({"method": "chat.postMessage", "kind": "error", "error": "fatal_error"})");
  emulated.fault(R"({"method": "chat.postMessage", "kind": "rate_limited", "retry_after": 7})");
  emulated.fault(R"({"method": "chat.postMessage", "kind": "reset"})");
  CHECK(emulated.post()->given.status == 502);
  CHECK(emulated.post()->given.body == R"({"ok":false,"error":"fatal_error"})");
  const auto limited = emulated.post();
  CHECK(limited->given.status == 429);
  CHECK(limited->given.headers[0] == std::pair<std::string, std::string>("Retry-After", "7"));
  CHECK(emulated.post()->how == "reset");
  CHECK(emulated.posts() == 0);
  CHECK(emulated.post()->given.status == 200);
  CHECK(emulated.posts() == 1);
}

TEST_CASE("faults after the effect leave it") {
  Emulated emulated;
  emulated.fault(R"({"kind": "error_after"})");
  emulated.fault(R"({"kind": "reset_after"})");
  emulated.fault(R"({"kind": "http_status", "status": 500, "effect": "applied"})");
  emulated.fault(R"({"kind": "slow"})");
  CHECK(emulated.post()->given.body == R"({"ok":false,"error":"internal_error"})");
  CHECK(emulated.posts() == 1);
  CHECK(emulated.post()->how == "reset");
  CHECK(emulated.post()->given.status == 500);
  CHECK(emulated.post()->how == "dripped");
  CHECK(emulated.posts() == 4);
}

TEST_CASE("faults choose their calls by method, count, skip and parameters") {
  Emulated emulated;
  emulated.fault(R"({"method": "chat.postMessage", "kind": "reset", "skip": 1, "count": 2, "when": {"text": "y"}})");
  CHECK(emulated.post("y")->how == "answered");
  CHECK(emulated.post("x")->how == "answered");
  CHECK(emulated.call("auth.test")->how == "answered");
  CHECK(emulated.post("y")->how == "reset");
  CHECK(emulated.post("y")->how == "reset");
  CHECK(emulated.post("y")->how == "answered");
  emulated.fault(R"({"method": "auth.test", "kind": "reset", "count": 0})");
  for (int i = 0; i < 3; ++i) CHECK(emulated.call("auth.test")->how == "reset");
  CHECK(emulated.tell("DELETE", "faults").status == 200);
  CHECK(emulated.call("auth.test")->how == "answered");
}

TEST_CASE("a hang ends when it is released, with or without an answer") {
  Emulated emulated;
  emulated.fault(R"({"method": "chat.postMessage", "kind": "hang"})");
  emulated.fault(R"({"method": "chat.postMessage", "kind": "hang_after"})");
  emulated.fault(R"({"method": "chat.postMessage", "kind": "hang", "effect": "on_release"})");
  const auto never = emulated.post(), before = emulated.post(), later = emulated.post();
  CHECK(emulated.posts() == 1);
  CHECK(emulated.api.held.hanging() == 3);
  CHECK(emulated.api.held.pending_effects() == 1);
  CHECK(emulated.tell("POST", "release", R"({"answer": true})").body == R"({"ok":true,"applied":1})");
  CHECK(never->how == "closed");
  CHECK(before->how == "answered");
  CHECK(later->how == "answered");
  CHECK(emulated.posts() == 2);
  CHECK(emulated.api.held.hanging() == 0);
}

TEST_CASE("a late effect happens when its time has come, though the caller has gone") {
  Emulated emulated;
  emulated.fault(R"({"method": "chat.postMessage", "kind": "late", "after_ms": 5000})");
  CHECK(emulated.post()->how == "reset");
  CHECK(emulated.tell("POST", "clock", R"({"advance_ms": 4999})").status == 200);
  CHECK(emulated.posts() == 0);
  CHECK(emulated.tell("POST", "clock", R"({"advance_ms": 1})").status == 200);
  CHECK(emulated.posts() == 1);
  emulated.fault(R"({"method": "chat.postMessage", "kind": "late", "connection": "hang"})");
  const auto waiting = emulated.post();
  CHECK(waiting->how == "waiting");
  CHECK(emulated.tell("POST", "release").status == 200);
  CHECK(waiting->how == "closed");
  CHECK(emulated.posts() == 2);
}

TEST_CASE("truncated and malformed bodies") {
  Emulated emulated;
  emulated.fault(R"({"kind": "truncated"})");
  emulated.fault(R"({"kind": "truncated", "framing": "exact"})");
  const auto cut = emulated.call("auth.test");
  const std::size_t announced = std::stoul(cut->bytes.substr(cut->bytes.find("Content-Length: ") + 16));
  CHECK(cut->bytes.size() - cut->bytes.find("\r\n\r\n") - 4 == announced / 2);
  rapidjson::Document document;
  CHECK_FALSE(parse_json(emulated.call("auth.test")->given.body, document));

  const auto shaped = [&](const std::string& shape) {
    emulated.fault(R"({"kind": "body", "bytes": 1000, "shape": ")" + shape + "\"}");
    return emulated.call("auth.test")->given;
  };
  CHECK_FALSE(parse_json(shaped("not_json").body, document));
  CHECK_FALSE(parse_json(shaped("empty").body, document));
  CHECK_FALSE(parse_json(shaped("invalid_utf8").body, document));
  CHECK((parse_json(shaped("array").body, document) && document.IsArray()));
  CHECK((parse_json(shaped("missing_ok").body, document) && !krux::find_member(document, "ok") &&
         krux::find_member(document, "team")));
  CHECK((parse_json(shaped("ok_is_string").body, document) && text_or(document, "ok") == "true"));
  CHECK((parse_json(shaped("huge").body, document) && text_or(document, "padding").size() == 1000));
  CHECK(shaped("deep").body.find(std::string(1000, '[')) != std::string::npos);
  CHECK(shaped("html").content_type == "text/html");
  CHECK(shaped("wrong_content_type").content_type == "text/html");
}

TEST_CASE("rate limits hold in any minute of the emulator's time and cut pages") {
  Emulated emulated;
  const std::string limits = R"({"methods": {"conversations.history": {"per_minute": 1, "max_items": 1}}})";
  REQUIRE(emulated.tell("POST", "limits", limits).status == 200);
  const std::string form = "channel=C0GEN00000&limit=100";
  rapidjson::Document page;
  REQUIRE(parse_json(emulated.call("conversations.history", form)->given.body, page));
  CHECK(page["messages"].Size() == 1);
  emulated.state.clock.advance_ms(59001);
  const auto limited = emulated.call("conversations.history", form);
  CHECK(limited->given.status == 429);
  CHECK(limited->given.body == R"({"ok":false,"error":"ratelimited"})");
  CHECK(limited->given.headers[0].second == "1");
  emulated.state.clock.advance_ms(999);
  CHECK(emulated.call("conversations.history", form)->given.status == 200);
  CHECK(emulated.call("auth.test")->given.status == 200);
  CHECK(emulated.tell("POST", "limits", R"({"preset": "non_marketplace"})").status == 200);
  CHECK(emulated.state.limits.limits().at("conversations.replies").max_items == 15);
  CHECK(emulated.tell("POST", "limits", R"({"preset": "off"})").status == 200);
  CHECK(emulated.state.limits.limits().empty());
}

TEST_CASE("the log tells of calls, never of tokens") {
  Emulated emulated;
  emulated.fault(R"({"method": "chat.postMessage", "kind": "hang"})");
  emulated.post("hello");
  emulated.call("chat.shout");
  const std::string log = emulated.tell("GET", "log").body;
  CHECK(log.find(kToken) == std::string::npos);
  CHECK(log.find(R"("params":{"channel":"C0GEN00000","text":"hello"},"status":0,"error":"","fault":"hang")") !=
        std::string::npos);
  CHECK(emulated.tell("GET", "log?method=chat.shout").body.find("unknown_method") != std::string::npos);
  CHECK(emulated.tell("GET", "log?after=2").body == R"({"requests":[]})");
  emulated.state.clock.advance_ms(60000);
  emulated.call("auth.test");
  emulated.call("auth.test");
  CHECK(
      emulated.tell("GET", "state").body.find(R"("auth.test":{"calls":2,"limited":0,"failed":0,"max_per_minute":2})") !=
      std::string::npos);
}

TEST_CASE("people act: what they do is in the workspace and not among the API's effects") {
  Emulated emulated;
  const auto act = [&](const std::string& json) { return emulated.tell("POST", "act", json); };
  CHECK(act(R"({"action": "post", "channel": "C0GEN00000", "user": "U0GEN00000", "text": "hi"})").body ==
        R"({"ok":true,"ts":"1700000000.000000"})");
  const std::string where = R"("channel": "C0GEN00000", "ts": "1700000000.000000")";
  CHECK(act(R"({"action": "edit", "text": "hello", )" + where + "}").status == 200);
  CHECK(act(R"({"action": "react", "name": "eyes", "user": "U0GEN00000", )" + where + "}").status == 200);
  std::string messages = emulated.tell("GET", "messages?channel=C0GEN00000").body;
  CHECK(messages.find(R"("text":"hello")") != std::string::npos);
  CHECK(messages.find(R"("reactions":[{"name":"eyes","users":["U0GEN00000"],"count":1}])") != std::string::npos);
  CHECK(act(R"({"action": "delete", )" + where + "}").status == 200);
  CHECK(act(R"({"action": "delete", )" + where + "}").status == 400);
  CHECK(act(R"({"action": "archive", "channel": "C0GEN00000"})").status == 200);
  CHECK(emulated.post()->given.body.find("is_archived") != std::string::npos);
  CHECK(act(R"({"action": "unarchive", "channel": "C0GEN00000"})").status == 200);
  CHECK(act(R"({"action": "remove_bot", "channel": "C0GEN00000"})").status == 200);
  CHECK(emulated.post()->given.body.find("not_in_channel") != std::string::npos);
  CHECK(act(R"({"action": "revoke_token", "token": "xoxb-test", "error": "token_revoked"})").status == 200);
  CHECK(emulated.post()->given.body.find("token_revoked") != std::string::npos);
  CHECK(emulated.posts() == 0);
}

TEST_CASE("the control plane refuses what it does not understand") {
  Emulated emulated;
  const auto refused = [&](const std::string& what, const std::string& json) {
    return emulated.tell("POST", what, json).status;
  };
  CHECK(refused("fault", R"({"kind": "explode"})") == 400);
  CHECK(refused("fault", R"({"kind": "reset", "methd": "auth.test"})") == 400);
  CHECK(refused("fault", R"({"kind": "reset", "effect": "on_release"})") == 400);
  CHECK(refused("fault", R"({"kind": "reset", "count": "3"})") == 400);
  CHECK(refused("fault", R"({"kind": "reset", "method": "chat.shout"})") == 400);
  CHECK(refused("fault", R"({"kind": "reset", "when": {"ts": 5}})") == 400);
  CHECK(refused("fault", R"([])") == 400);
  CHECK(refused("fault", R"({"kind": "body", "shape": "round"})") == 400);
  CHECK(refused("seed", R"({"chanels": 3})") == 400);
  CHECK(refused("seed", "{") == 400);
  CHECK(refused("seed", R"({"large": {"channels": "many"}})") == 400);
  CHECK(refused("seed", R"({"users": [5]})") == 400);
  CHECK(refused("seed", R"({"channels": [{"id": "C1", "messages": 5}]})") == 400);
  CHECK(refused("act", R"({"action": "sing"})") == 400);
  CHECK(refused("limits", R"({"methods": {"chat.shout": {"per_minute": 1}}})") == 400);
  CHECK(refused("behaviour", R"({"replies_parent": "sometimes"})") == 400);
  CHECK(refused("nonsense", "{}") == 404);
  CHECK(emulated.tell("GET", "messages?channel=C0NOWHERE").status == 404);
}

TEST_CASE("reset gives a fresh workspace") {
  Emulated emulated;
  emulated.fault(R"({"kind": "hang", "method": "auth.test"})");
  const auto hanging = emulated.call("auth.test");
  emulated.post();
  CHECK(emulated.tell("POST", "reset").status == 200);
  CHECK(hanging->how == "closed");
  CHECK(emulated.posts() == 0);
  CHECK(emulated.state.journal.calls("auth.test") == 0);
  CHECK(emulated.state.workspace->channel("C0GEN00000") == nullptr);
  CHECK(emulated.call("auth.test")->how == "answered");
}

}  // namespace KRUXOS_TEST_FILE
