#include "host/operator/control_server.hpp"

#include <poll.h>
#include <pwd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <thread>

#include "core/audit/audit_log.hpp"
#include "core/audit/query.hpp"
#include "core/storage/group_commit.hpp"
#include "host/http/http_server.hpp"
#include "host/http/raw_client.hpp"
#include "host/operator/fake_operator.hpp"
#include "host/operator/routes.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace std::string_literals;
using namespace krux::test;

namespace {

std::string me() {
  return std::string("operator:") + getpwuid(geteuid())->pw_name;
}

struct Fixture {
  support::Scratch scratch;
  FakeOperator api;
  ControlServer control;
  HttpServer server;
  std::filesystem::path path = scratch.path() / "control.sock";

  explicit Fixture(ControlServer::Options options = {}) : control(api, options) {
    server.listen_unix(path, control.handler());
  }
  ~Fixture() { server.stop(0); }
  RawAnswer ask(std::string_view bytes) { return RawClient(path).ask(bytes); }
  /// What the host was asked for that request.
  std::vector<std::string> asked_for(std::string_view bytes) {
    CHECK(ask(bytes).status == 200);
    return api.asked();
  }
};

using Asked = std::vector<std::string>;

}  // namespace

TEST_CASE("each path reaches its operation", "[control]") {
  Fixture f;
  CHECK(f.asked_for(http_get("/v1/status")) == Asked{"status"});
  CHECK(f.asked_for(http_get("/v1/config")) == Asked{"config"});
  CHECK(f.asked_for(http_get("/v1/agents")) == Asked{"agents"});
  CHECK(f.asked_for(http_post("/v1/agents", R"({"name":"al"})")) == Asked{"create_agent al " + me()});
  CHECK(f.asked_for(http_get("/v1/agents/a%20b%2Fc")) == Asked{"agent a b/c"});
  CHECK(f.asked_for(http_post("/v1/agents/al/rotate", "")) == Asked{"rotate_agent al " + me()});
  CHECK(f.asked_for(http_post("/v1/agents/al/rotate", R"({"grace_seconds":604800})")) ==
        Asked{"rotate_agent al grace 604800 s " + me()});
  CHECK(f.asked_for(http_post("/v1/agents/al/revoke", "")) == Asked{"revoke_agent al " + me()});
  CHECK(f.asked_for(http_post("/v1/agents/al/pause", "")) == Asked{"pause_agent al " + me()});
  CHECK(f.asked_for(http_post("/v1/agents/al/pause", R"({"reason":"why"})")) == Asked{"pause_agent al why " + me()});
  CHECK(f.asked_for(http_post("/v1/agents/al/resume", "")) == Asked{"resume_agent al " + me()});
  CHECK(f.asked_for(http_post("/v1/pause", R"({"reason":"why"})")) == Asked{"pause_all why " + me()});
  CHECK(f.asked_for(http_post("/v1/resume", "")) == Asked{"resume_all " + me()});
  for (const auto* wrong : {"[]", R"({"reason":""})", R"({"reason":1})", R"({"reason":"a","more":1})"})
    CHECK(f.ask(http_post("/v1/pause", wrong)).status == 400);
  CHECK(f.asked_for(http_get("/v1/audit?agent=al&kind=write&since=2026-11-21&limit=7")) ==
        Asked{"audit alwrite 1795219200000 0 0 7"});
  CHECK(f.asked_for(http_get("/v1/audit/export?after=5")) == Asked{"audit_export 5 50"});
  CHECK(f.asked_for(http_post("/v1/audit/verify", "")) == Asked{"verify_audit"});
  CHECK(f.asked_for(http_get("/v1/sign-in")) == Asked{"sign_in"});
  CHECK(f.asked_for(http_get("/v1/sign-in/bcdf-ghjk")) == Asked{"sign_in_request bcdf-ghjk"});
  CHECK(f.asked_for(http_post("/v1/sign-in/BCDF-GHJK/accept", R"({"agent":"al"})")) ==
        Asked{"accept_sign_in BCDF-GHJK al " + me()});
  CHECK(f.asked_for(http_post("/v1/sign-in/BCDF-GHJK/reject", "")) == Asked{"reject_sign_in BCDF-GHJK " + me()});
  CHECK(f.asked_for(http_post("/v1/sign-in/grants/grant_1/end", "")) == Asked{"end_sign_in grant_1 " + me()});
  for (const auto* wrong : {"", "{}", R"({"agent":""})", R"({"agent":1})", R"({"agent":"al","more":1})"})
    CHECK(f.ask(http_post("/v1/sign-in/BCDF-GHJK/accept", wrong)).status == 400);
  CHECK(f.asked_for(http_post("/v1/backup", R"({"directory":"/b/monday"})")) == Asked{"backup /b/monday  " + me()});
  CHECK(f.asked_for(http_post("/v1/backup", R"({"directory":"/b","key_file":"/k","replicas":false})")) ==
        Asked{"backup /b /k without replicas " + me()});
  CHECK(f.ask(http_post("/v1/backup", R"({"key_file":"/k"})")).status == 400);
  CHECK(f.asked_for(http_get("/v1/writes?held=1")) == Asked{"writes held_as_copy agent= service= limit=50 before="});
  CHECK(f.asked_for(http_post("/v1/decisions", R"({"decision":"release","writes":[{"write_id":"w_1"}]})")) ==
        Asked{"decide release w_1: held " + me()});
  CHECK(
      f.asked_for(http_post("/v1/decisions", R"({"decision":"discard","held":true,"writes":[{"write_id":"w_1"}]})")) ==
      Asked{"decide discard w_1: held " + me()});
  CHECK(f.asked_for(http_post("/v1/decisions",
                              R"({"decision":"release","writes":[{"write_id":"w_1","expected_finding":"absent"}]})")) ==
        Asked{"decide release w_1::absent held " + me()});
  for (const auto* wrong : {R"({"decision":"release","writes":[{"write_id":"w_1","expected_finding":"sent"}]})",
                            R"({"decision":"discard","writes":[{"write_id":"w_1","expected_finding":"found"}]})"})
    CHECK(f.ask(http_post("/v1/decisions", wrong)).status == 400);
  CHECK(f.ask(http_post("/v1/decisions",
                        R"({"decision":"accept","held":true,"writes":[{"write_id":"w_1","content_hash":"h"}]})"))
            .status == 400);
  CHECK(f.asked_for(http_get("/v1/connections")) == Asked{"connections"});
  CHECK(f.asked_for(http_get("/v1/connections/x")) == Asked{"connection x"});
  CHECK(f.asked_for(http_post("/v1/connections/x", R"({"token":"t\u002d1"})")) == Asked{"connect x t-1 " + me()});
  CHECK(f.asked_for(http_post("/v1/connections/x/disconnect", "")) == Asked{"disconnect x  -1 " + me()});
  CHECK(f.asked_for(http_post("/v1/connections/x/disconnect", R"({"account":"A 1","force":true,"wait_seconds":5})")) ==
        Asked{"disconnect x A 1 force 5000 " + me()});
  CHECK(f.asked_for(http_get("/v1/receipts?limit=3")) == Asked{"receipts 3"});
  CHECK(f.asked_for(http_get("/v1/receipts/rcpt_1")) == Asked{"receipt rcpt_1"});
  CHECK(f.asked_for(http_get("/v1/vault")) == Asked{"vault"});
  CHECK(f.asked_for(http_post("/v1/vault/unlock", R"({"passphrase":"a \"b"})")) == Asked{"unlock_vault a \"b " + me()});
  CHECK(f.asked_for(http_post("/v1/vault/rotate", "")) == Asked{"rotate_vault " + me()});
  CHECK(f.asked_for(http_post("/v1/vault/rotate", R"({"passphrase":"p"})")) == Asked{"rotate_vault p " + me()});
  CHECK(f.asked_for(http_post("/v1/vault/passphrase", R"({"new_passphrase":"n"})")) ==
        Asked{"set_vault_passphrase n " + me()});
  CHECK(f.asked_for(http_post("/v1/vault/passphrase", R"({"new_passphrase":"n","passphrase":"p"})")) ==
        Asked{"set_vault_passphrase p n " + me()});
  CHECK(f.asked_for(http_post("/v1/vault/key-file", R"({"passphrase":"p"})")) == Asked{"use_vault_key_file p " + me()});
  CHECK(f.asked_for(http_post("/v1/replicas/x/verify", "{}")) == Asked{"verify_replica x  1000 30 " + me()});
  CHECK(f.asked_for(http_post("/v1/replicas/x/verify", R"({"account":"A 1","records":0,"minutes":5})")) ==
        Asked{"verify_replica x A 1 0 5 " + me()});
  for (const char* wrong : {R"({"records":-1})", R"({"records":"all"})", R"({"minutes":0})", R"({"minutes":1.5})",
                            R"({"minutes":1441})", R"({"wait":1})", R"({"account":1})"})
    CHECK(f.ask(http_post("/v1/replicas/x/verify", wrong)).status == 400);
  CHECK(f.asked_for(http_post("/v1/replicas/x/rebuild", R"({"account":"A 1"})")) ==
        Asked{"rebuild_replica x A 1 " + me()});
  CHECK(f.asked_for(http_get("/v1/sync/x")) == Asked{"sync_status x"});
  CHECK(f.asked_for(http_post("/v1/sync/x", "")) == Asked{"sync_now x " + me()});
  CHECK(f.asked_for(http_get("/v1/writes")) == Asked{"writes agent= service= limit=50 before="});
  CHECK(f.asked_for(http_get("/v1/writes?service=x&agent=al&state=buffered,unknown&limit=7&before=w_1")) ==
        Asked{"writes buffered,unknown agent=al service=x limit=7 before=w_1"});
  CHECK(f.asked_for(http_get("/v1/writes?needs_operator=1")) ==
        Asked{"writes person agent= service= limit=50 before="});
  CHECK(f.asked_for(http_get("/v1/writes/w_1")) == Asked{"write w_1"});
  CHECK(f.asked_for(http_post("/v1/writes/w_1/cancel", "")) == Asked{"cancel_write w_1 " + me()});
  CHECK(f.asked_for(http_post("/v1/writes/w_1/resolve", R"({"decision":"resend"})")) ==
        Asked{"decide_outcome w_1 operator_resend any " + me()});
  CHECK(f.asked_for(http_post("/v1/writes/w_1/resolve", R"({"decision":"discard"})")) ==
        Asked{"decide_outcome w_1 operator_discard any " + me()});
  CHECK(f.asked_for(http_post("/v1/writes/w_1/resolve", R"({"decision":"happened"})")) ==
        Asked{"decide_outcome w_1 operator_happened any " + me()});
  CHECK(f.asked_for(http_post("/v1/writes/w_1/resolve", R"({"decision":"resend","expected_state":"dead_letter"})")) ==
        Asked{"decide_outcome w_1 operator_resend dead_letter " + me()});
  CHECK(f.asked_for(http_post(
            "/v1/decisions",
            R"({"decision":"discard","writes":[{"write_id":"w_1","expected_state":"unknown"},{"write_id":"w_2"}]})")) ==
        Asked{"decide discard w_1::unknown w_2: " + me()});
  CHECK(f.asked_for(http_post("/v1/writes/w_1/accept", R"({"content_hash":"abc"})")) ==
        Asked{"accept_write w_1 abc " + me()});
  CHECK(f.asked_for(http_post("/v1/writes/w_1/accept", R"({"content_hash":"abc","like":{"seconds":3600}})")) ==
        Asked{"accept_write w_1 abc like 3600 s 20 " + me()});
  CHECK(
      f.asked_for(http_post(
          "/v1/decisions",
          R"({"decision":"accept","writes":[{"write_id":"w_1","content_hash":"a"}],"like":{"seconds":60,"most":3}})")) ==
      Asked{"decide accept w_1:a like 60 s 3 " + me()});
  CHECK(f.asked_for(http_get("/v1/standing-approvals")) == Asked{"standing_approvals"});
  CHECK(f.asked_for(http_post("/v1/standing-approvals/sa_1/end", "")) == Asked{"end_standing_approval sa_1 " + me()});
  CHECK(f.asked_for(http_get("/v1/webhook")) == Asked{"webhook"});
  CHECK(f.asked_for(http_post("/v1/webhook/test", "")) == Asked{"test_webhook"});
  CHECK(f.asked_for(http_post("/v1/writes/w_1/reject", R"({"reason":"no"})")) == Asked{"reject_write w_1 no " + me()});
  CHECK(f.asked_for(http_post("/v1/writes/w_1/reject", "{}")) == Asked{"reject_write w_1  " + me()});
  CHECK(f.asked_for(http_post("/v1/writes/w_1/edit", R"({"content_hash":"abc","arguments":{"text":null}})")) ==
        Asked{R"(edit_write w_1 abc {"text":null} )" + me()});
  CHECK(f.asked_for(http_post("/v1/writes/w_1/rollback", "{}")) == Asked{"rollback_write w_1 " + me()});
  CHECK(f.asked_for(http_post("/v1/writes/w_1/rollback", R"({"force":true})")) ==
        Asked{"rollback_write w_1 force " + me()});
  CHECK(
      f.asked_for(http_post(
          "/v1/decisions",
          R"({"decision":"accept","writes":[{"write_id":"w_1","content_hash":"a"},{"write_id":"w_2","content_hash":"b"}]})")) ==
      Asked{"decide accept w_1:a w_2:b " + me()});
  CHECK(f.asked_for(
            http_post("/v1/decisions", R"({"decision":"rollback","force":true,"writes":[{"write_id":"w_1"}]})")) ==
        Asked{"decide rollback w_1: force " + me()});
  CHECK(f.asked_for(http_get("/v1/limits")) == Asked{"limits"});
  CHECK(f.asked_for(http_get("/v1/approvals/figures")) == Asked{"approval_figures"});
  CHECK(f.asked_for(http_get("/v1/plugins")) == Asked{"plugins"});
  CHECK(f.asked_for(http_post("/v1/plugins/notes/release", "")) == Asked{"release_plugin notes " + me()});
  CHECK(f.asked_for(http_post("/v1/plugins/verify", R"({"file":"/x.so"})")) == Asked{"verify_plugin /x.so"});
  CHECK(f.asked_for(http_get("/v1/alerts")) == Asked{"alerts open 50"});
  CHECK(f.asked_for(http_get("/v1/alerts?all=1")) == Asked{"alerts all 50"});
  CHECK(f.asked_for(http_post("/v1/alerts/12/acknowledge", "")) == Asked{"acknowledge_alert 12 " + me()});
}

TEST_CASE("requests that do not fit are refused before the host is asked", "[control]") {
  Fixture f;
  struct Row {
    std::string bytes;
    int status;
  };
  const std::vector<Row> rows{
      {http_get("/"), 404},
      {http_get("/v1"), 404},
      {http_get("/v1/status/"), 404},
      {http_post("/v1/writes/w_1/accept", R"({"content_hash":"a","like":3600})"), 400},
      {http_post("/v1/writes/w_1/accept", R"({"content_hash":"a","like":{}})"), 400},
      {http_post("/v1/writes/w_1/accept", R"({"content_hash":"a","like":{"seconds":0}})"), 400},
      {http_post("/v1/writes/w_1/accept", R"({"content_hash":"a","like":{"seconds":59}})"), 400},
      {http_post("/v1/writes/w_1/accept", R"({"content_hash":"a","like":{"seconds":86401}})"), 400},
      {http_post("/v1/writes/w_1/accept", R"({"content_hash":"a","like":{"seconds":9223372036854775807}})"), 400},
      {http_post("/v1/writes/w_1/accept", R"({"content_hash":"a","like":{"seconds":60,"most":0}})"), 400},
      {http_post("/v1/writes/w_1/accept", R"({"content_hash":"a","like":{"seconds":60,"most":1001}})"), 400},
      {http_post("/v1/writes/w_1/accept", R"({"content_hash":"a","like":{"seconds":60,"most":"2"}})"), 400},
      {http_post("/v1/writes/w_1/accept", R"({"content_hash":"a","like":{"seconds":60,"other":1}})"), 400},
      {http_post("/v1/writes/w_1/accept", R"({"content_hash":"a","like":{"seconds":60.5}})"), 400},
      {http_post("/v1/decisions", R"({"decision":"reject","writes":[{"write_id":"w_1"}],"like":{"seconds":60}})"), 400},
      {http_get("/v1//status"), 404},
      {http_get("/v1/agents/"), 404},
      {http_get("/v1/agents/%zz"), 404},
      {http_get("/v1/agents/%00"), 404},
      {http_get("/v1/agents/%ff"), 404},
      {http_post("/v1/status", "{}"), 405},
      {"DELETE /v1/agents/a HTTP/1.1\r\nHost: h\r\n\r\n", 405},
      {http_post("/v1/agents", ""), 400},
      {http_post("/v1/agents", "[]"), 400},
      {http_post("/v1/agents", R"({"name":""})"), 400},
      {http_post("/v1/agents", R"({"name":7})"), 400},
      {http_post("/v1/agents", R"({"name":"a","more":1})"), 400},
      {http_post("/v1/agents", std::string(100'000, '[')), 400},
      {http_post("/v1/connections/x", ""), 400},
      {http_post("/v1/connections/x", "tok-1"), 400},
      {http_post("/v1/connections/x", R"({"token":""})"), 400},
      {http_post("/v1/connections/x", R"({"token":"a","b":1})"), 400},
      {http_post("/v1/connections/x", R"({"token":"a"}}")"), 400},
      {http_post("/v1/connections/x", "{\"token\":\"a\"}\0"s), 400},
      {http_post("/v1/connections/x", "{\"token\":\"\xff\"}"), 400},
      {http_post("/v1/connections/x/disconnect", "[]"), 400},
      {http_post("/v1/connections/x/disconnect", R"({"force":"yes"})"), 400},
      {http_post("/v1/connections/x/disconnect", R"({"wait_seconds":601})"), 400},
      {http_post("/v1/connections/x/disconnect", R"({"wait_seconds":9223372036854775807})"), 400},
      {http_post("/v1/connections/x/disconnect", R"({"more":1})"), 400},
      {http_get("/v1/receipts?limit=0"), 400},
      {http_post("/v1/vault/unlock", ""), 400},
      {http_post("/v1/vault/unlock", R"({"passphrase":""})"), 400},
      {http_post("/v1/vault/unlock", R"({"passphrase":7})"), 400},
      {http_post("/v1/vault/unlock", R"({"passphrase":"a","passphrase":"b"})"), 400},
      {http_post("/v1/vault/rotate", R"({"token":"a"})"), 400},
      {http_post("/v1/agents/al/rotate", R"({"grace_seconds":604801})"), 400},
      {http_post("/v1/agents/al/rotate", R"({"grace_seconds":-1})"), 400},
      {http_post("/v1/agents/al/rotate", R"({"grace_seconds":"1"})"), 400},
      {http_post("/v1/agents/al/rotate", R"({"grace":1})"), 400},
      {http_post("/v1/vault/passphrase", R"({"new_passphrase":"a","more":"b"})"), 400},
      {http_post("/v1/vault/key-file", "{}"), 400},
      {http_post("/v1/connections/x", std::string(100'000, '[')), 400},
      {http_get("/v1/writes?state=nonsense"), 400},
      {http_get("/v1/writes?limit=0"), 400},
      {http_get("/v1/writes?limit=1e3"), 400},
      {http_get("/v1/writes?limit=99999999999999999999"), 400},
      {http_post("/v1/writes/w/resolve", R"({"decision":"maybe"})"), 400},
      {http_post("/v1/writes/w/resolve", R"({"decision":"resend","expected_state":"maybe"})"), 400},
      {http_post("/v1/writes/w/resolve", R"({"decision":"resend","expected_state":7})"), 400},
      {http_post("/v1/writes/w/resolve", R"({"decision":"resend","more":"x"})"), 400},
      {http_post("/v1/decisions", R"({"decision":"cancel","writes":[{"write_id":"w","expected_state":"unknown"}]})"),
       400},
      {http_post("/v1/writes/w/accept", ""), 400},
      {http_post("/v1/writes/w/accept", "{}"), 400},
      {http_post("/v1/writes/w/reject", R"({"reason":7})"), 400},
      {http_post("/v1/writes/w/reject", R"({"why":"x"})"), 400},
      {http_post("/v1/writes/w/edit", R"({"arguments":{}})"), 400},
      {http_post("/v1/writes/w/edit", R"({"content_hash":"a","arguments":[]})"), 400},
      {http_post("/v1/writes/w/rollback", R"({"force":"yes"})"), 400},
      {http_post("/v1/decisions", R"({"decision":"maybe","writes":[{"write_id":"w"}]})"), 400},
      {http_post("/v1/decisions", R"({"decision":"accept","writes":[{"write_id":"w"}]})"), 400},
      {http_post("/v1/decisions", R"({"decision":"cancel","writes":[]})"), 400},
      {http_post("/v1/decisions", R"({"decision":"cancel","writes":["w"]})"), 400},
      {http_post("/v1/decisions", R"({"decision":"cancel"})"), 400},
      {http_post("/v1/alerts/x/acknowledge", ""), 400},
      {http_get("/v1/status", "Origin: http://localhost\r\n"), 403},
  };
  for (const auto& row : rows) {
    INFO(row.bytes.substr(0, 120));
    const auto answer = f.ask(row.bytes);
    CHECK(answer.status == row.status);
    CHECK(answer.body.find("\"message\":\"") != std::string::npos);
    CHECK(f.api.asked().empty());
  }
}

TEST_CASE("a text that no service takes is refused by its name", "[control]") {
  Fixture f;
  const auto refusal = [&](const char* path, const char* body) { return f.ask(http_post(path, body)).body; };
  CHECK_THAT(refusal("/v1/writes/w/reject", R"({"reason":"no\u0000"})"),
             Catch::Contains("reason") && Catch::Contains("U+0000"));
  CHECK_THAT(refusal("/v1/writes/w/edit", R"({"content_hash":"a","arguments":{"to":["x","\ud800"]}})"),
             Catch::Contains("arguments.to[1]") && Catch::Contains("surrogate"));
  CHECK(f.asked_for(http_post("/v1/writes/w_1/reject", R"({"reason":"\u001b[31mno\u001b[0m"})")) ==
        Asked{"reject_write w_1 \x1b[31mno\x1b[0m " + me()});
}

TEST_CASE("the host's errors have their status", "[control]") {
  Fixture f;
  const auto status_for = [&](const Error& error) {
    f.api.errors.clear();
    f.api.errors.emplace("status", error);
    return f.ask(http_get("/v1/status")).status;
  };
  CHECK(status_for(not_found("no")) == 404);
  CHECK(status_for(conflict("no")) == 409);
  CHECK(status_for({ErrorCode::kCannotCancel, "no"}) == 409);
  CHECK(status_for(invalid_input("no")) == 400);
  CHECK(status_for({ErrorCode::kMessageNotFound, "no"}) == 400);  // of what is asked for there is something
  CHECK(status_for({ErrorCode::kNotAuthenticated, "no"}) == 401);
  CHECK(status_for({ErrorCode::kPolicyDenied, "no"}) == 403);
  CHECK(status_for({ErrorCode::kRateLimited, "no"}) == 429);
  CHECK(status_for(database_error("no")) == 503);
}

TEST_CASE("an error has what an operator needs, and no advice for agents", "[control]") {
  Fixture f;
  const auto body_for = [&](const Error& error) {
    f.api.errors.clear();
    f.api.errors.emplace("status", error);
    return f.ask(http_get("/v1/status")).body;
  };
  CHECK(body_for({ErrorCode::kConflictError, "Not \"now\"."}) ==
        R"({"error":{"type":"ConflictError","message":"Not \"now\".","retryable":false}})");
  CHECK(body_for(database_error("The disk \xff.")) ==
        R"({"error":{"type":"DatabaseError","message":"The disk \\xff.","retryable":true}})");
  CHECK(body_for(Error(ErrorCode::kCannotCancel, "Too late.").with_context(R"({"write_id":"w_1"})")) ==
        R"({"error":{"type":"CannotCancel","message":"Too late.","retryable":false,"context":{"write_id":"w_1"}}})");
}

TEST_CASE("another user than the owner and root is refused", "[control]") {
  FakeOperator api;
  ControlServer control(api, {1, 8, 4711});
  const auto status_for = [&](const Peer& peer) {
    std::atomic<int> status{0};
    ServerRequest request;
    request.method = "GET";
    request.path = "/v1/status";
    request.peer = peer;
    control.handler()(std::move(request), [&](const ServerResponse& response) { status = response.status; });
    while (status == 0) std::this_thread::yield();
    return status.load();
  };
  CHECK(status_for({"", true, 4711, 1}) == 200);
  CHECK(status_for({"", true, 0, 1}) == 200);
  CHECK(status_for({"", true, 4712, 1}) == 403);
  CHECK(status_for({"", true, static_cast<uid_t>(-1), 0}) == 403);
  CHECK(status_for({"127.0.0.1", false, 4711, 1}) == 403);
}

TEST_CASE("a token's body is wiped, whatever comes of it", "[control]") {
  FakeOperator api;
  for (const std::string body : {R"({"token":"secret-secret"})", R"({"token":"secret-secret",)", "secret-secret"}) {
    ServerRequest request;
    request.method = "POST";
    request.path = "/v1/connections/x";
    request.body = body;
    const auto response = run_operator_request(api, request);
    CHECK(request.body == std::string(body.size(), '\0'));
    CHECK(response.body.find("secret") == std::string::npos);
  }
}

namespace {
/// Blocks in status().
class SlowOperator final : public FakeOperator {
 public:
  std::string status() override {
    std::unique_lock lock(mutex_);
    ++running_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return released_; });
    return "{}";
  }
  void wait_for(int count) {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, std::chrono::seconds(20), [&] { return running_ >= count; }));
  }
  void release() {
    const std::lock_guard lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int running_ = 0;
  bool released_ = false;
};
}  // namespace

TEST_CASE("operations that take their time do not hold up others, up to a limit", "[control]") {
  support::Scratch scratch;
  SlowOperator api;
  ControlServer control(api, {2, 1, ::geteuid()});
  HttpServer server;
  const auto path = scratch.path() / "s";
  server.listen_unix(path, control.handler());
  RawClient first(path), second(path);
  first.send(http_get("/v1/status"));
  api.wait_for(1);
  CHECK(RawClient(path).ask(http_get("/v1/agents")).status == 200);
  second.send(http_get("/v1/status"));
  api.wait_for(2);
  RawClient third(path), fourth(path);
  third.send(http_get("/v1/agents"));
  fourth.send(http_get("/v1/agents"));
  // One of them waits in the queue, the other is refused.
  std::array<pollfd, 2> both{{{third.fd(), POLLIN, 0}, {fourth.fd(), POLLIN, 0}}};
  REQUIRE(::poll(both.data(), both.size(), 20'000) == 1);
  RawClient &refused = both[0].revents ? third : fourth, &queued = both[0].revents ? fourth : third;
  CHECK(refused.receive().status == 503);
  api.release();
  CHECK(first.receive().status == 200);
  CHECK(second.receive().status == 200);
  CHECK(queued.receive().status == 200);
  server.stop(0);
}

TEST_CASE("what an operator does is audited before it begins and when it ended, and never a body", "[control]") {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store(scratch.path() / "kruxos.db", kLedgerKind);
  AuditLog log(store, clock, {scratch.path() / "audit.db"});
  ControlServer::Options options;
  options.audit = &log;
  Fixture f(options);
  f.ask(http_get("/v1/agents"));
  f.ask(http_post("/v1/agents/al/revoke", ""));
  f.api.errors.emplace("create_agent", invalid_input("no"));
  f.ask(http_post("/v1/agents", R"({"name":"what is secret"})"));
  f.ask(http_post("/v1/sign-in/bcdf-ghjk/reject", ""));
  f.ask(http_post("/v1/sign-in/bcdf-ghjk/accept", R"({"agent":"al"})"));
  f.ask(http_post("/v1/sign-in/grants/grant_1/end", ""));  // a name, which opens nothing
  // Each stands there when it is answered.
  std::vector<std::string> told;
  for (const auto& row : audit_rows_after(scratch.path() / "audit.db", 1, 100)) {
    CHECK(row.kind == "operator");
    told.push_back(row.body);
  }
  const auto row = [](const std::string& action, const std::string& outcome) {
    return R"({"who":")" + me() + R"(","action":"POST /v1/)" + action + R"(","outcome":")" + outcome + "\"}";
  };
  CHECK(told == std::vector<std::string>{
                    row("agents/al/revoke", "asked"), row("agents/al/revoke", "done"), row("agents", "asked"),
                    row("agents", "InvalidInput"), row("sign-in/*/reject", "asked"), row("sign-in/*/reject", "done"),
                    row("sign-in/*/accept", "asked"), row("sign-in/*/accept", "done"),
                    row("sign-in/grants/grant_1/end", "asked"), row("sign-in/grants/grant_1/end", "done")});
}

}  // namespace KRUXOS_TEST_FILE
