#include "core/definition/correspondence_parser.hpp"

#include <catch2/catch.hpp>

#include "core/definition/definition_loader.hpp"
#include "core/definition/notes_definition.hpp"
#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

CorrespondenceDefinition parsed(const std::string& correspondence) {
  const auto text =
      test::kNotesHead + "  - {name: notes.list, kind: read, tier: autonomous, purpose: L., when_to_use: L.}\n";
  return parse_definition(text + "correspondence: " + correspondence + "\n", "n").correspondence;
}

}  // namespace

TEST_CASE("a definition says where whom an account has written to stands") {
  const auto found = parsed(
      R"({collection: messages, sent: SENT, without: [SPAM, TRASH], to: [to, cc], from: from, address: "<{address}>"})");
  CHECK(found.collection == "messages");
  CHECK(found.sent_tag == "SENT");
  CHECK(found.without_tags == std::vector<std::string>{"SPAM", "TRASH"});
  CHECK(found.to == std::vector<std::string>{"to", "cc"});
  CHECK(found.from == "from");
  CHECK((found.before_address == "<" && found.behind_address == ">"));
  CHECK(parsed(R"({collection: m, sent: S, to: [to], from: from, address: "{address}"})").without_tags.empty());
  CHECK(parsed("{collection: m, proof: auth.check}").proof == "auth.check");
  const auto texts = parsed("{collection: m}");
  CHECK((texts.collection == "m" && !texts.has_people()));
}

TEST_CASE("what does not say where correspondence stands is refused with its place") {
  const auto [text, why] = GENERATE(table<std::string, std::string>({
      {R"({sent: S, to: [to], from: from, address: "{address}"})", "collection"},
      {R"({collection: m, to: [to], from: from, address: "{address}"})", "sent"},
      {R"({collection: m, sent: S, to: [], from: from, address: "{address}"})", "name the texts"},
      {R"({collection: m, sent: S, to: [to], from: from, address: "<>"})", "{address} stands for the address"},
      {R"({collection: "M M", sent: S, to: [to], from: from, address: "{address}"})", "small letters"},
      {R"({collection: m, sent: S, to: [to], from: from, address: "{address}", more: 1})", "more"},
      {R"({collection: m, conversation: "{thread}"})", "a member of a record"},
      {R"({collection: m, sender: "from..address"})", "a member of a record"},
      {R"({collection: m, proof: "{check}"})", "a member of a record"},
      {"messages", "correspondence"},
  }));
  CAPTURE(text);
  CHECK_THROWS_WITH(parsed(text), Catch::Contains(why));
}

}  // namespace KRUXOS_TEST_FILE
