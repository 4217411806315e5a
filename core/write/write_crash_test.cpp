// A host that is killed at every fault point, again and again, beside a service that counts what really happened.

#include <catch2/catch.hpp>
#include <set>
#include <sstream>

#include "core/audit/audit_log.hpp"
#include "core/audit/query.hpp"
#include "core/audit/verify.hpp"
#include "core/util/json.hpp"
#include "core/write/crash_test_support.hpp"
#include "core/write/write_test_support.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;
namespace fs = std::filesystem;

namespace {

struct World {
  explicit World(const fs::path& d) : directory(d) {}
  fs::path directory;
  Record effects{directory / "effects"}, accepted{directory / "accepted"}, cancelled{directory / "cancelled"};
};

/// Behaves by what the write's text says: "lost" acts but its answer is lost once; "absent" is lost before it acts
/// once.
std::shared_ptr<ScriptedAdapter> service(const World& world) {
  auto adapter = std::make_shared<ScriptedAdapter>();
  adapter->on_execute = [&world](const CallContextPtr& call, const AdapterWrite& w) -> CallResult<std::string> {
    const auto is = [&](const char* kind) { return w.params_json.find(kind) != std::string::npos; };
    if (is("note") && !call->remember(R"({"draft":"d"})")) return CallFailure{KRUX_STORAGE, true, {}, "no note", {}};
    if (is("denied") && w.attempt == 1) return CallFailure{KRUX_AUTH, true, {}, "token refused", {}};
    if (!call->begin_unsafe_request()) return CallFailure{KRUX_CANCELLED, true, {}, "ended", {}};
    const CallFailure reset{KRUX_NETWORK, false, {}, "reset", {}};
    if (is("absent") && w.attempt == 1) return reset;
    world.effects.add(w.write_id);
    if (is("lost") && w.attempt == 1) return reset;
    call->request_answered();
    return std::string("{}");
  };
  adapter->on_find = [&world](const CallContextPtr&, const AdapterWrite& w) -> CallResult<EffectFound> {
    const bool there = world.effects.lines().count(w.write_id) > 0;
    return EffectFound{there ? EffectFound::Answer::kFound : EffectFound::Answer::kAbsent, "{}"};
  };
  adapter->on_rollback = [&world](const CallContextPtr& call, const RollbackRequest& r) -> CallResult<std::string> {
    if (!call->begin_unsafe_request()) return CallFailure{KRUX_CANCELLED, true, {}, "ended", {}};
    world.effects.add(r.rollback_id);
    call->request_answered();
    return std::string("{}");
  };
  adapter->on_find_rollback = [&world](const CallContextPtr&, const RollbackRequest& r) -> CallResult<EffectFound> {
    const bool there = world.effects.lines().count(r.rollback_id) > 0;
    return EffectFound{there ? EffectFound::Answer::kFound : EffectFound::Answer::kAbsent, ""};
  };
  return adapter;
}

NewWrite of_kind(const std::string& kind) {
  auto w = new_write(kind, kind == "undoable" ? "notes.move" : "notes.add");
  // The agent repeats its request after a crash and expects one write.
  w.idempotency_key = kind;
  w.immediate = kind != "cancel" && kind != "edit";
  if (kind == "accept" || kind == "reject" || kind == "expire") w.approval_reason = "A person is asked.";
  if (kind == "expire") w.approval_ms = 30'000;
  return w;
}

/// What is decided about a write of that kind, once it is submitted; too late after a crash, it is refused.
void decide_about(const World& world, Host& host, const std::string& kind, const WriteRecord& write) {
  Answer<WriteRecord> answer;
  if (kind == "accept") {
    host.buffer.ledger.accept(write.write_id, write.content_hash, "operator:ann", answer.slot());
  } else if (kind == "reject") {
    host.buffer.ledger.reject(write.write_id, "no", "operator:ann", answer.slot());
  } else if (kind == "edit") {
    NewContent content;
    content.params_json = R"({"text":"changed"})";
    content.summary = "changed";
    content.tier = "notify";
    host.buffer.ledger.edit(write.write_id, "", write.content_hash, content, "operator:ann", answer.slot());
  } else if (kind == "cancel") {
    if (std::holds_alternative<WriteRecord>(host.cancel(write.write_id))) world.cancelled.add(write.write_id);
    return;
  } else {
    return;
  }
  answer.wait();
}

constexpr std::size_t kKinds = 11;

void submit_all(const World& world, Host& host) {
  for (const char* kind :
       {"plain", "note", "lost", "absent", "undoable", "denied", "cancel", "accept", "reject", "edit", "expire"}) {
    Answer<Submitted> answer;
    host.buffer.ledger.submit(of_kind(kind), answer.slot());
    const auto write = answer.value().write;
    world.accepted.add(write.write_id);
    decide_about(world, host, kind, write);
  }
}

/// Asks for the undo of what can be undone, as soon as it is done.
void undo_completed(Host& host) {
  for (const auto& w : host.buffer.ledger.list({"", "", "", {WriteState::kCompleted}, false, 50, ""})) {
    if (w.operation == "notes.move") host.roll_back(w.write_id);
  }
}

/// The operator sends again whatever the host asks about, and connects the account again.
void decide(Host& host) {
  for (const auto& w : host.buffer.ledger.list({"", "", "", {}, true, 50, ""})) {
    host.resolve(w.write_id, WriteEvent::kOperatorResend);
  }
  host.executor.connection_restored(kAccount);
}

bool all_ended(Host& host) {
  const auto writes = host.buffer.ledger.list({});
  return std::all_of(writes.begin(), writes.end(), [](auto& w) {
    return has_ended(w.state) && (w.operation != "notes.move" || w.state == WriteState::kRolledBack);
  });
}

/// One run of the host until everything has ended: the clock runs, the operator decides.
void run_host(const World& world, int run) {
  DrivenClock clock(1'700'000'000'000 + run * 3'600'000, 1'000'000);
  ExecutorOptions options;
  options.call_timeout_ms = 1'000'000'000;
  Host host(world.directory, clock, options, "boot-" + std::to_string(run));
  AuditLog log(host.store, clock, {world.directory / "audit.db"});
  const auto changes = host.buffer.ledger.observe([&log](const WriteRecord&) { log.wake(); });
  host.serve(service(world));
  submit_all(world, host);
  // What is chained is taken out behind the next commits.
  log.flush();
  host.quiet();
  for (int i = 0; i < 5000 && !all_ended(host); ++i) {
    host.quiet();
    undo_completed(host);
    decide(host);
    host.quiet();
    clock.advance(10'000);
  }
  if (!all_ended(host)) ::_exit(4);
}

/// The audit log tells of each write from its admission to where it is, whatever was killed when.
void check_audit(const World& world, Host& host, const Clock& clock, const std::vector<WriteRecord>& writes) {
  const auto file = world.directory / "audit.db";
  {
    DrivenClock now(clock.wall_ms());
    AuditLog log(host.store, now, {file});
    REQUIRE(log.flush());
  }
  const auto check = verify_audit(file);
  CHECK(check.whole());
  CHECK(check.notes.empty());
  for (const auto& write : writes) {
    AuditFilter filter;
    filter.write_id = write.write_id;
    const auto rows = find_audit_rows(file, filter);
    REQUIRE_FALSE(rows.empty());
    CHECK(rows.back().kind == "write.submitted");
    const auto last = parse_json(rows.front().body, "body");
    CHECK(find_string(last, rows.size() == 1 ? "state" : "to") == to_string(write.state));
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const auto after = parse_json(rows[i - 1].body, "body");
      const auto from = find_string(after, "from").value_or("none");
      const auto before = parse_json(rows[i].body, "body");
      CHECK(from == find_string(before, i + 1 == rows.size() ? "state" : "to").value_or("none"));
    }
  }
}

void check_world(const World& world) {
  DrivenClock clock(1'700'100'000'000);
  Host host(world.directory, clock);
  const auto effects = world.effects.lines(), accepted = world.accepted.lines(), cancelled = world.cancelled.lines();
  const auto writes = host.buffer.ledger.list({});
  check_audit(world, host, clock, writes);
  std::set<std::string> known;
  for (const auto& w : writes) {
    INFO(w.params_json << " " << to_string(w.state));
    known.insert(w.write_id);
    const bool ran = w.state == WriteState::kCompleted || w.state == WriteState::kRolledBack;
    CHECK((ran || w.state == WriteState::kCancelled || w.state == WriteState::kRejected));
    CHECK(effects.count(w.write_id) == (ran ? 1 : 0));
    if (cancelled.count(w.write_id)) CHECK(w.state == WriteState::kCancelled);
  }
  for (const auto& id : accepted) CHECK(known.count(id) == 1);
  for (const auto& id : effects) CHECK(known.count(id) == 1);
  CHECK(writes.size() == kKinds + 1);  // and the undo
  // The one that is to be cancelled runs where the kill came before its cancel and its window is over since.
  CHECK(effects.size() >= 9);
}

}  // namespace

TEST_CASE("without a kill every write ends as it should") {
  support::Scratch scratch;
  const World world(scratch.path());
  REQUIRE(in_child("", 0, [&] { run_host(world, 1); }) == 0);
  check_world(world);
}

TEST_CASE("killed at every fault point, nothing is lost and nothing happens twice") {
  for (const auto point : kFaultPoints) {
    const bool of_audit = point.starts_with("audit.append.") || point.starts_with("audit.forget.");
    if (!point.starts_with("write.") && !of_audit) continue;
    for (const int pass : {1, 2}) {
      support::Scratch scratch;
      const World world(scratch.path());
      const int status = in_child(point, pass, [&] { run_host(world, 1); });
      INFO(point << " pass " << pass);
      // Everything is passed at least once in a run; what is passed only once does not kill the second time.
      if (pass == 1 || status != 0) {
        REQUIRE(WIFSIGNALED(status));
        CHECK(WTERMSIG(status) == SIGKILL);
      }
      REQUIRE(in_child("", 0, [&] { run_host(world, 2); }) == 0);
      check_world(world);
    }
  }
}

TEST_CASE("killed several times in a row, at points that vary") {
  unsigned seed = 20'261'121;
  for (int round = 0; round < 8; ++round) {
    support::Scratch scratch;
    const World world(scratch.path());
    INFO("round " << round);
    for (int run = 1; run <= 4; ++run) {
      seed = seed * 1'103'515'245 + 12'345;
      const auto point = kFaultPoints[(seed >> 16) % kFaultPoints.size()];
      const int status = in_child(point, 1 + static_cast<int>((seed >> 8) % 4), [&] { run_host(world, run); });
      REQUIRE((status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)));
    }
    REQUIRE(in_child("", 0, [&] { run_host(world, 9); }) == 0);
    check_world(world);
  }
}

}  // namespace KRUXOS_TEST_FILE
