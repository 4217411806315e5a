#include "core/definition/prompt_parser.hpp"

#include <catch2/catch.hpp>

#include "core/definition/definition_loader.hpp"
#include "core/definition/notes_definition.hpp"
#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

const std::string kHead =
    test::kNotesHead + R"(  - {name: notes.search, kind: read, tier: autonomous, purpose: S., when_to_use: S.}
  - {name: notes.add, kind: write, tier: notify, purpose: A., when_to_use: A.}
prompts:
)";

std::vector<PromptDefinition> parsed(const std::string& prompts) {
  return parse_definition(kHead + prompts, "n").prompts;
}

PromptDefinition tidy_up() {
  return parsed(R"(
  - name: notes.tidy_up
    title: Tidy up
    description: Sorts the notes of a book.
    needs: [notes.search]
    arguments:
      - {name: book, description: Which., required: true, values_from: {collection: books, member: title}}
      - {name: howThorough, description: How., one_of: [well, badly], default: well}
    messages:
      - {text: "Look at {book} with notes.search, {howThorough}.\nThen: {book}."}
      - {role: assistant, text: "Yes."}
      - {image: {mime_type: image/png, data: "AAAA"}}
      - {resource: {uri: "notes://{book}", mime_type: text/plain, text: "Of {book}."}}
)")
      .at(0);
}

std::string as_it_is(std::string_view text) {
  return std::string(text);
}

}  // namespace

TEST_CASE("a prompt has messages with places for its arguments") {
  const auto prompt = tidy_up();
  CHECK((prompt.name == "notes.tidy_up" && prompt.title == "Tidy up" && prompt.needs.size() == 1));
  REQUIRE(prompt.arguments.size() == 2);
  CHECK(prompt.arguments[0].values_from->member == "title");
  REQUIRE(prompt.messages.size() == 4);
  CHECK(prompt.messages[1].role == PromptMessage::Role::kAssistant);
  CHECK((prompt.messages[2].kind == ContentKind::kImage && prompt.messages[2].data == "AAAA"));
  const auto upper = [](std::string_view text) { return "<" + std::string(text) + ">"; };
  CHECK(filled(prompt.messages[0].text, prompt, {{"book", "A"}, {"howThorough", "badly"}}, upper) ==
        "<Look at >A< with notes.search, >badly<.\nThen: >A<.>");
  CHECK(filled(prompt.messages[3].uri, prompt, {{"book", "a b"}}, as_it_is) == "notes://a b");
}

TEST_CASE("an argument is its text and nothing else") {
  const auto prompt = tidy_up();
  const std::string odd = "{howThorough} {book}\", \\n notes.add {";
  CHECK(why_not_arguments(prompt, {{"book", odd}}).empty());
  CHECK(filled(prompt.messages[0].text, prompt, {{"book", odd}}, as_it_is) ==
        "Look at " + odd + " with notes.search, well.\nThen: " + odd + ".");
}

TEST_CASE("arguments that do not fit are named, and so are those that are missing") {
  const auto prompt = tidy_up();
  CHECK(missing_arguments(prompt, {}).size() == 1);
  CHECK(missing_arguments(prompt, {{"book", ""}}).size() == 1);
  CHECK(missing_arguments(prompt, {{"book", "A"}}).empty());
  CHECK_THAT(why_not_arguments(prompt, {{"bok", "A"}}), Catch::Contains("did you mean \"book\""));
  CHECK_THAT(why_not_arguments(prompt, {{"howThorough", "so"}}), Catch::Contains("must be one of well, badly"));
  CHECK_THAT(why_not_arguments(prompt, {{"book", std::string(4001, 'a')}}), Catch::Contains("at most 4000"));
  CHECK_FALSE(why_not_arguments(prompt, {{"book", std::string("a\0b", 3)}}).empty());
}

TEST_CASE("a prompt that does not fit is refused with what is accepted") {
  const std::string good = "name: notes.a, title: A, description: D., ";
  const std::string text = "messages: [{text: Hello.}]";
  const std::pair<std::string, const char*> rows[] = {
      {"name: mail.a, title: A, description: D., " + text, "notes.<name>"},
      {"name: notes.A, title: A, description: D., " + text, "notes.<name>"},
      {"title: A, description: D., " + text, "name"},
      {good + "messages: []", "one message at least"},
      {good, "messages"},
      {good + "needs: [notes.find], " + text, "no capability of this definition"},
      {good + "arguments: [{name: 1a, description: D.}], " + text, "a letter first"},
      {good + "arguments: [{name: a, description: D.}, {name: a, description: D.}], " + text, "twice"},
      {good + "arguments: [{name: a, description: D., required: true, default: x}], " + text, "has no default"},
      {good + "arguments: [{name: a, description: D., one_of: []}], " + text, "empty"},
      {good + "arguments: [{name: a, description: D., values_from: {collection: b, member: c}}], " + text, "a read"},
      {good + "needs: [notes.add], arguments: [{name: a, description: D., values_from: {collection: b, member: c}}], " +
           text,
       "a read"},
      {good +
           "needs: [notes.search], arguments: [{name: a, description: D., one_of: [x], values_from: {collection: b, "
           "member: c}}], " +
           text,
       "remove one of the two"},
      {good + "messages: [{text: \"{a}\"}]", "no argument"},
      {good + "messages: [{text: \"a } b\"}]", "stands alone"},
      {good + "messages: [{text: \"a { b\"}]", "stands alone"},
      {good + "messages: [{text: \"\"}]", "text"},
      {good + "messages: [{role: user}]", "has one of"},
      {good + "messages: [{role: system, text: A.}]", "role"},
      {good + "messages: [{text: A., image: {mime_type: a/b, data: AAAA}}]", "has one of"},
      {good + "messages: [{image: {mime_type: a/b, data: \"AAA\"}}]", "Base64"},
      {good + "messages: [{resource: {uri: \"notes://a\", mime_type: a/b}}]", "either"},
      {good + "messages: [{resource: {uri: \"notes://a\", mime_type: a/b, text: A., data: AAAA}}]", "either"},
  };
  for (const auto& [row, why] : rows) {
    INFO(row);
    CHECK_THROWS_WITH(parsed("  - {" + row + "}\n"), Catch::Contains(why));
  }
  CHECK_THROWS_WITH(parsed("  - {" + good + text + "}\n  - {" + good + text + "}\n"), Catch::Contains("twice"));
}

}  // namespace KRUXOS_TEST_FILE
