#include "core/account/accounts.hpp"

#include <catch2/catch.hpp>

#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

void add(AccountDirectory& accounts, const std::string& id, const std::string& name, const std::string& display) {
  auto account = std::make_shared<ActiveAccount>();
  account->ref = {"notes", id, 1};
  account->name = name;
  account->display_name = display;
  accounts.publish(std::move(account));
}

std::string refusal(const AccountDirectory& accounts, const std::string& account) {
  try {
    return "chose " + accounts.choose("notes", account)->ref.account_id;
  } catch (const Error& error) {
    return std::string(error.type().name()) + ": " + error.what();
  }
}

}  // namespace

TEST_CASE("an account is named by its id, its name or its display name") {
  AccountDirectory accounts;
  add(accounts, "T1", "default", "Acme");
  add(accounts, "T2", "work", "Acme");
  add(accounts, "T3", "private", "T2");
  CHECK(accounts.choose("notes", "T2")->ref.account_id == "T2");  // an id before another's display name
  CHECK(accounts.choose("notes", "work")->ref.account_id == "T2");
  CHECK_THAT(refusal(accounts, "Acme"), Catch::StartsWith("NotConnected"));  // two have it
  CHECK_THAT(refusal(accounts, "other"), Catch::Contains("default (Acme), work (Acme), private (T2)"));
}

TEST_CASE("where no account is named it is the default one, or the only one") {
  AccountDirectory accounts;
  CHECK_THAT(refusal(accounts, ""), Catch::StartsWith("NotConnected"));
  add(accounts, "T2", "work", "B");
  CHECK(accounts.choose("notes", "")->ref.account_id == "T2");
  add(accounts, "T3", "private", "C");
  CHECK_THAT(refusal(accounts, ""), Catch::StartsWith("InvalidInput") && Catch::Contains("work (B), private (C)"));
  add(accounts, "T1", "default", "A");
  CHECK(accounts.choose("notes", "")->ref.account_id == "T1");
  accounts.begin_leaving("notes", "T1");
  CHECK_THAT(refusal(accounts, ""), Catch::StartsWith("InvalidInput"));
}

}  // namespace KRUXOS_TEST_FILE
