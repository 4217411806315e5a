// Attacks on the audit log by somebody who has its files, knows docs/audit.md, and has a key of his own.
#include <fmt/format.h>

#include <fstream>

#include "core/audit/anchors.hpp"
#include "core/audit/audit_fixture.hpp"
#include "core/audit/chain.hpp"
#include "core/audit/signing_key.hpp"
#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace audit_test;

namespace {

/// Rows 1 and 2 are the log's beginning and its key; 3 to 8 are changes of the ledger, each with its head outside.
struct Signed : LogFixture {
  Signed() {
    log.reset();
    AuditOptions options;
    options.key_file = scratch.path() / "audit.key";
    options.anchor_file = heads();
    options.anchor_every = std::chrono::milliseconds(0);
    start(std::move(options));
    for (int i = 1; i <= 6; ++i) {
      put("k" + std::to_string(i));
      REQUIRE(log->flush());
    }
    log_id = log->status().log_id;
    key = log->status().key;
    log.reset();
    host.emplace(open_signing_key(scratch.path() / "audit.key", key));
  }
  std::filesystem::path heads() const { return scratch.path() / "audit.heads"; }
  AuditCheck with(const std::string& by, bool anchors) const {
    return verify_audit(file(), {{}, anchors ? heads() : std::filesystem::path(), by});
  }
  std::vector<AuditRow> rows() const { return audit_rows_after(file(), 0, 1000); }
  AuditHash hash_at(std::int64_t seq) const { return audit_rows_after(file(), seq - 1, 1).front().hash; }

  /// Behind the last row, as the host would.
  AuditHead append(const std::string& kind, const std::string& body) {
    const auto last = rows().back();
    AuditRow row;
    row.seq = last.seq + 1;
    row.at_ms = last.at_ms;
    row.kind = kind;
    row.body = body;
    row.hash = chain_hash(last.hash, view_of(row));
    tamper(fmt::format(
        "INSERT INTO entries (seq, at_ms, source, kind, body, prev, hash) VALUES ({}, {}, 0, '{}', "
        "'{}', x'{}', x'{}'); UPDATE log SET head_seq = {}, head_hash = x'{}'",
        row.seq, row.at_ms, kind, body, hash_hex(last.hash), hash_hex(row.hash), row.seq, hash_hex(row.hash)));
    return {row.seq, row.hash};
  }
  std::string cut_by(const SigningKey& signer, std::int64_t through) const {
    const auto hash = hash_hex(hash_at(through));
    return fmt::format(R"({{"through":{},"hash":"{}","key":"{}","signature":"{}"}})", through, hash,
                       signer.public_hex(), signer.sign(signed_cut(log_id, through, hash)));
  }
  void append_key(const SigningKey& next, const std::string& replaces, const SigningKey* before) {
    auto body = fmt::format(R"({{"public":"{}")", next.public_hex());
    if (!replaces.empty()) body += fmt::format(R"(,"replaces":"{}")", replaces);
    if (before) body += fmt::format(R"(,"signature":"{}")", before->sign(signed_key(log_id, next.public_hex())));
    append("log.key", body + "}");
  }
  void cut_front(const SigningKey& signer, std::int64_t through) {
    append("log.cut", cut_by(signer, through));
    tamper("DELETE FROM entries WHERE seq <= " + std::to_string(through));
  }

  std::string log_id, key;
  std::optional<SigningKey> host;
  SigningKey thief{new_seed()};

  static Secret new_seed() { return Secret(std::string(32, 'x')); }
};

bool has_kind(const AuditCheck& check, const std::string& kind) {
  return std::any_of(check.problems.begin(), check.problems.end(),
                     [&](const AuditProblem& problem) { return problem.kind == kind; });
}

}  // namespace

TEST_CASE("rows at the front of the audit log go by the word of the key in force alone") {
  for (const std::int64_t through : {1, 2, 5}) {
    INFO(through);
    Signed f;
    f.cut_front(f.thief, through);
    for (const bool anchors : {false, true}) {
      CHECK(named(f.with({}, anchors)).front() == "missing 1");
      CHECK(named(f.with(f.key, anchors)).front() == "missing 1");
    }
    // A row that names the true key again makes it no better.
    f.append_key(*f.host, {}, nullptr);
    for (const bool anchors : {false, true}) {
      CHECK_FALSE(f.with({}, anchors).whole());
      CHECK(named(f.with(f.key, anchors)).front() == "missing 1");
    }
  }
}

TEST_CASE("what the host's key took out of the audit log is in order for whoever knows the key") {
  Signed f;
  f.cut_front(*f.host, 5);
  CHECK(named(f.with(f.key, false)) == Texts{});
  CHECK(named(f.with({}, true)) == Texts{});
  // Without anybody's word it might be by anybody.
  const auto check = f.with({}, false);
  CHECK(named(check) == Texts{"missing 1"});
  CHECK(check.problems[0].message.find("--key") != std::string::npos);
  CHECK(named(f.with(f.thief.public_hex(), false)).front() == "missing 1");
}

TEST_CASE("a head of his own behind the true ones makes nobody's removal good") {
  Signed f;
  f.cut_front(f.thief, 5);
  const auto last = f.rows().back();
  append_anchor(f.heads(), make_anchor(f.thief, f.log_id, {last.seq, last.hash}, 1));
  CHECK(named(f.with({}, true)).front() == "missing 1");
  CHECK(named(f.with(f.key, true)).front() == "missing 1");
}

TEST_CASE("a removal by the key before is in order where heads of the present one stand behind it") {
  Signed f;
  f.cut_front(*f.host, 5);
  f.append_key(f.thief, f.key, &*f.host);  // here it is the host's next
  const auto head = f.append("k", "{}");
  CHECK(has_kind(f.with(f.thief.public_hex(), false), "signature"));
  append_anchor(f.heads(), make_anchor(f.thief, f.log_id, head, 1));
  CHECK(named(f.with(f.thief.public_hex(), true)) == Texts{});
}

TEST_CASE("a key of the audit log comes by the word of the one in force alone") {
  Signed unsaid;
  unsaid.append_key(unsaid.thief, {}, nullptr);
  CHECK(named(unsaid.with({}, false)) == Texts{"signature 9"});
  Signed other;
  const SigningKey stranger(Secret(std::string(32, 'y')));
  other.append_key(other.thief, stranger.public_hex(), &stranger);
  CHECK(named(other.with({}, false)) == Texts{"signature 9"});
  // What the true key signs behind it still counts, and what the other one does never.
  other.append("log.cut", other.cut_by(*other.host, 1));
  CHECK(named(other.with({}, false)) == Texts{"signature 9"});
  other.append("log.cut", other.cut_by(other.thief, 1));
  CHECK(named(other.with({}, false)) == Texts{"signature 9", "signature 11"});
  Signed agreed;
  agreed.append_key(agreed.thief, agreed.key, &*agreed.host);
  CHECK(named(agreed.with(agreed.thief.public_hex(), true)) == Texts{});
}

TEST_CASE("heads of rows that are gone are compared with the signed removal") {
  Signed f;
  f.cut_front(*f.host, 5);
  append_anchor(f.heads(), make_anchor(*f.host, f.log_id, {5, f.hash_at(6)}, 1));
  CHECK(named(f.with(f.key, true)) == Texts{"replaced 5"});
}

TEST_CASE("a history that was written anew under another id shows by the heads of its key") {
  Signed f;
  const auto before = f.with(f.key, true);
  CHECK(before.heads >= 6);
  CHECK(before.newest_head == 8);
  CHECK(before.newest_head_ms == f.clock.wall_ms());
  const auto true_key = f.rows()[1].body;
  std::filesystem::remove(f.file());
  {
    GroupCommit ledger(f.scratch.path() / "other.db", kLedgerKind);
    AuditLog anew(ledger, f.clock, {f.file()});
    REQUIRE(anew.flush());
  }
  f.append("log.key", true_key);
  CHECK(f.with(f.key, false).whole());  // the public key is public
  for (const auto& by : {f.key, std::string()}) {
    const auto check = f.with(by, true);
    CHECK(named(check) == Texts{"replaced 1"});
    CHECK(check.heads == 0);
  }
  // Where the new one names no key, --key finds the heads all the same.
  f.tamper("DELETE FROM entries WHERE kind = 'log.key'");
  CHECK(named(f.with(f.key, true)).front() == "replaced 1");
}

TEST_CASE("heads of other hosts in the same file say nothing of this log") {
  Signed f;
  append_anchor(f.heads(), make_anchor(f.thief, "00000000000000000000000000000000", {99, f.hash_at(1)}, 1));
  CHECK(named(f.with(f.key, true)) == Texts{});
}

TEST_CASE("heads that are not there are an error where they were asked for, and else a note") {
  Signed f;
  std::filesystem::remove(f.heads());
  const auto check = f.with(f.key, true);
  CHECK(check.whole());
  REQUIRE(check.notes.size() == 1);
  CHECK(check.notes[0].find("no signed head was compared") != std::string::npos);
  CHECK_THROWS_AS(verify_audit(f.file(), {{}, f.heads(), f.key, true}), Error);
}

}  // namespace KRUXOS_TEST_FILE
