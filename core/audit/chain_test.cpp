#include "core/audit/chain.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

// Made by another program from docs/audit.md alone.
constexpr const char* kPrev = "158c9b159065d7da0a2702e6afecf66b1b6fc89cb1acb71441a297946961b85b";
constexpr const char* kHash = "830f5aea4c5c6fae452e1aacafeafdf920b6250e09fd29c7bb71503492313343";

AuditRow example() {
  AuditRow row;
  row.seq = 1;
  row.at_ms = 1'700'000'000'000;
  row.source = 7;
  row.kind = "write.claim";
  row.agent_id = "agent_1";
  row.service = "notes";
  row.write_id = "w_1";
  row.body = R"({"n":1})";
  return row;
}

}  // namespace

TEST_CASE("a row's hash is what the document says") {
  const auto prev = first_prev("0123456789abcdef");
  CHECK(hash_hex(prev) == kPrev);
  CHECK(hash_hex(chain_hash(prev, view_of(example()))) == kHash);
}

TEST_CASE("whatever changes in a row changes its hash") {
  const auto prev = first_prev("0123456789abcdef");
  const auto hash = chain_hash(prev, view_of(example()));
  const auto changed = [&](auto change) {
    auto row = example();
    change(row);
    return chain_hash(prev, view_of(row)) != hash;
  };
  CHECK(changed([](AuditRow& r) { r.seq = 2; }));
  CHECK(changed([](AuditRow& r) { ++r.at_ms; }));
  CHECK(changed([](AuditRow& r) { r.source = 0; }));
  CHECK(changed([](AuditRow& r) { r.kind = "write.done"; }));
  CHECK(changed([](AuditRow& r) { r.agent_id = "agent_2"; }));
  CHECK(changed([](AuditRow& r) { r.account_id = "N1"; }));
  CHECK(changed([](AuditRow& r) { r.body = R"({"n":2})"; }));
  // What moves from one column to the next is not the same.
  CHECK(changed([](AuditRow& r) {
    r.service = "note";
    r.account_id = "s";
  }));
  CHECK(chain_hash(hash, view_of(example())) != hash);
}

TEST_CASE("a hash is read from what it was written as, and from nothing else") {
  const auto hash = first_prev("x");
  CHECK(hash_of_hex(hash_hex(hash)) == hash);
  CHECK(hash_of_blob(blob_of(hash)) == hash);
  CHECK_FALSE(hash_of_hex("12"));
  CHECK_FALSE(hash_of_hex(std::string(64, 'x')));
  CHECK_FALSE(hash_of_blob("12"));
}

}  // namespace KRUXOS_TEST_FILE
