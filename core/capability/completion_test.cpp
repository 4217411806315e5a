#include "core/capability/completion.hpp"

#include <catch2/catch.hpp>

#include "core/capability/handler_test_support.hpp"

namespace KRUXOS_TEST_FILE {

using namespace handler_test;

namespace {

void keep(Replica& replica, const std::vector<std::string>& names) {
  const auto session = replica.begin_session();
  for (std::size_t i = 0; i < names.size(); ++i) {
    Record record;
    record.collection = "note";
    record.id = std::to_string(i);
    record.json = "{\"name\":" + json_string(names[i]) + ",\"size\":1}";
    session->put(std::move(record));
  }
  session->commit();
}

std::variant<Completion, Error> find(Host& host, const std::string& typed, const std::string& collection = "note",
                                     const std::string& member = "name", const std::string& by = "notes.search") {
  std::promise<std::variant<Completion, Error>> promise;
  host.handler.values({"agent_1", host.definition, host.definition->find(by), {collection, member}, typed},
                      [&](std::variant<Completion, Error> found) { promise.set_value(std::move(found)); });
  return promise.get_future().get();
}

std::vector<std::string> found(Host& host, const std::string& typed, const std::string& by = "notes.search") {
  return std::get<Completion>(find(host, typed, "note", "name", by)).values;
}

}  // namespace

TEST_CASE("What begins with what was typed goes before what has it within, each once and in any case") {
  const auto completion = completion_of({"general", "eng-general", "Genesis", "random", "general"}, "GEN");
  CHECK(completion.values == std::vector<std::string>{"Genesis", "general", "eng-general"});
  CHECK((completion.total == 3 && !completion.has_more()));
  CHECK(completion_of({"a", "b"}, "").values.size() == 2);
  std::vector<std::string> many;
  for (int i = 0; i < 150; ++i) many.push_back("v" + std::to_string(i));
  const auto cut = completion_of(many, "v");
  CHECK((cut.values.size() == 100 && cut.total == 150 && cut.has_more()));
}

TEST_CASE("Values come from the replica of accounts that the read may be made of") {
  Host host;
  keep(*host.replica, {"general", "eng-general", "random", "Größe"});
  CHECK(found(host, "").empty());  // nothing is connected
  host.connect("N1", {"write"});
  CHECK(found(host, "").empty());  // its scopes do not allow the read
  host.connect("N1");
  CHECK(found(host, "gen") == std::vector<std::string>{"general", "eng-general"});
  CHECK(found(host, "GRÖSSE") == std::vector<std::string>{"Größe"});
  CHECK(found(host, "nothing").empty());
  host.connect("N2");  // with the same replica here: each value once
  CHECK(found(host, "gen").size() == 2);
  host.accounts.begin_leaving("notes", "N1");
  host.accounts.begin_leaving("notes", "N2");
  CHECK(found(host, "gen").empty());
}

TEST_CASE("A collection that there is not is an error that says so, and a member that is no text has no values") {
  Host host;
  keep(*host.replica, {"general"});
  host.connect();
  CHECK(std::get<Completion>(find(host, "", "note", "size")).values.empty());
  CHECK(std::get<Completion>(find(host, "", "note", "nothing")).values.empty());
  CHECK(std::get<Error>(find(host, "", "no_such")).type() == ErrorType(ErrorCode::kInvalidInput));
}

}  // namespace KRUXOS_TEST_FILE
