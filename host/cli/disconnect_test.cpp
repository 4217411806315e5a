#include <catch2/catch.hpp>

#include "host/cli/cli_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

const std::string kReceipt =
    R"({"receipt":{"receipt_id":"rcpt_1","service":"x","account_id":"A1","account_name":"Acme\u001b[2J","who":"operator:ann",)"
    R"("forced":true,"begun_at_ms":1000,"ended_at_ms":2000,"outcome":"disconnected","steps":[{"step":"revoke",)"
    R"("outcome":"failed","message":"The service may still know the token."}],"writes":[{"write_id":"w_1",)"
    R"("operation":"x.send","summary":"hello","was":"executing","state":"unknown"}]}})";

const std::string kConnections = R"({"connections":[{"service":"x"}]})";

}  // namespace

TEST_CASE("disconnecting prints the receipt", "[cli]") {
  CliFixture f;
  f.api.answers["disconnect"] = kReceipt;
  CHECK(f.run({"disconnect", "x"}) == 0);
  CHECK(f.api.asked().front().starts_with("disconnect x  -1 operator:"));
  for (const auto* part :
       {"rcpt_1", "Acme\\x1b[2J (A1)", "disconnected, by force", "may still know", "w_1", "unknown"}) {
    INFO(part);
    CHECK(has(f.out(), part));
  }
  CHECK(f.run({"disconnect", "x", "Acme", "--force", "--wait", "5"}) == 0);
  CHECK(f.api.asked().back().starts_with("disconnect x Acme force 5000 operator:"));
  CHECK(f.run({"disconnect", "x", "--json"}) == 0);
  CHECK(f.out() == kReceipt + "\n");
}

TEST_CASE("disconnecting asks on a terminal", "[cli]") {
  CliFixture f;
  f.console.terminal = true;
  f.api.answers["connections"] = kConnections;
  f.console.lines = {"n"};
  CHECK(f.run({"disconnect", "x"}) == 1);
  CHECK(has(f.console.prompts, "its waiting writes are cancelled"));
  CHECK(f.api.asked() == std::vector<std::string>{"connections"});
  CHECK(f.run({"disconnect", "x", "--yes"}) == 0);
  CHECK(f.api.asked().size() == 1);
}

TEST_CASE("a disconnection that stopped is a conflict with its sentence", "[cli]") {
  CliFixture f;
  f.api.answers["connections"] = kConnections;
  f.api.errors.emplace("disconnect", conflict("Stopped; the account stays connected."));
  CHECK(f.run({"disconnect", "x"}) == 5);
  CHECK(has(f.err(), "the account stays connected"));
}

TEST_CASE("receipts are shown again", "[cli]") {
  CliFixture f;
  f.api.answers["receipt rcpt_1"] = kReceipt;
  CHECK(f.run({"disconnect", "--receipt", "rcpt_1"}) == 0);
  CHECK(has(f.out(), "rcpt_1"));
  f.api.answers["receipts"] = R"({"receipts":[{"receipt_id":"rcpt_2","service":"x","outcome":"stopped"}]})";
  CHECK(f.run({"disconnect", "--receipts"}) == 0);
  CHECK(has(f.out(), "stopped"));
  f.api.answers["receipts"] = R"({"receipts":[]})";
  CHECK(f.run({"disconnect", "--receipts"}) == 0);
  CHECK(has(f.out(), "No account"));
  CHECK(f.run({"disconnect"}) == 2);
  CHECK(f.run({"disconnect", "--receipt", "a", "--receipts"}) == 2);
  CHECK(f.run({"disconnect", "x", "--wait", "601"}) == 2);
}

}  // namespace KRUXOS_TEST_FILE
