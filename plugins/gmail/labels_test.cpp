// email.labels.
#include "labels.hpp"

#include <catch2/catch.hpp>

#include "test_support/reading_desk.hpp"

namespace KRUXOS_TEST_FILE {

using gmail::test::Desk;
using namespace gmail;

namespace {

std::string listed(Desk& desk, const std::string& params) {
  return json_text(desk.read("email.labels", params));
}

}  // namespace

TEST_CASE("labels are listed by name, page by page, with what kind they are") {
  Desk desk;
  CHECK(listed(desk, "{}") == R"({"labels":[{"id":"Label_1","name":"Clients/Acme","type":"user"},)"
                              R"({"id":"INBOX","name":"INBOX","type":"system"}],"total":2})");
  CHECK(listed(desk, R"({"limit":1,"offset":1})") ==
        R"({"labels":[{"id":"INBOX","name":"INBOX","type":"system"}],"total":2})");
  CHECK(listed(desk, R"({"offset":9})") == R"({"labels":[],"total":2})");
}

TEST_CASE("labels are found by a part of their name, however it is written") {
  Desk desk;
  const std::string acme = R"({"labels":[{"id":"Label_1","name":"Clients/Acme","type":"user"}],"total":1})";
  for (const char* part : {"ACME", "clients/acme", "Clients Acme", "s-a"}) {
    INFO(part);
    CHECK(listed(desk, R"({"name_contains":")" + std::string(part) + "\"}") == acme);
  }
  CHECK(listed(desk, R"({"name_contains":"nothing"})") == R"({"labels":[],"total":0})");
  CHECK(listed(desk, R"({"name_contains":""})").find("\"total\":2") != std::string::npos);
}

}  // namespace KRUXOS_TEST_FILE
