#include "core/definition/resource_parser.hpp"

#include <catch2/catch.hpp>

#include "core/definition/definition_loader.hpp"
#include "core/definition/notes_definition.hpp"
#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

const std::string kHead = test::kNotesHead + R"(  - name: notes.page
    kind: read
    tier: autonomous
    purpose: Read a page.
    when_to_use: To read it.
    inputs:
      - {name: book, type: String, required: true, description: B.}
      - {name: page, type: String, required: true, description: P.}
      - {name: size, type: Integer, description: S.}
    outputs: [{name: page, type: Object, content: resource, description: P.}]
  - {name: notes.index, kind: read, tier: autonomous, purpose: I., when_to_use: I., outputs: [{name: page, type: Object, content: resource, description: P.}]}
  - {name: notes.count, kind: read, tier: autonomous, purpose: C., when_to_use: C.}
  - {name: notes.add, kind: write, tier: notify, purpose: A., when_to_use: A.}
resources:
)";

std::vector<ResourceDefinition> parsed(const std::string& resources) {
  return parse_definition(kHead + resources, "n").resources;
}

}  // namespace

TEST_CASE("resources are reads under addresses") {
  const auto all = parsed(
      "  - {uri: \"notes://index\", name: index, description: All pages., mime_type: text/plain, read: notes.index}\n"
      "  - {uri: \"notes://{book}/{page}.txt\", name: page, description: One page., read: notes.page}\n");
  REQUIRE(all.size() == 2);
  CHECK((all[0].uri == "notes://index" && all[0].name == "index" && all[0].mime_type == "text/plain"));
  CHECK((all[1].capability == "notes.page" && all[1].mime_type.empty()));
  CHECK_FALSE(has_inputs(all[0].uri));
  CHECK(has_inputs(all[1].uri));
}

TEST_CASE("a resource that does not fit is refused with what is accepted") {
  const std::pair<std::string, const char*> rows[] = {
      {"uri: \"index\", name: a, description: D., read: notes.index", "scheme"},
      {"uri: \"Notes://x\", name: a, description: D., read: notes.index", "notes://"},
      {"uri: \"mail://x\", name: a, description: D., read: notes.index", "notes://"},
      {"uri: \"notesx://x\", name: a, description: D., read: notes.index", "notes://"},
      {"uri: \"{book}://x\", name: a, description: D., read: notes.index", "notes://"},
      {"uri: \"notes://a b\", name: a, description: D., read: notes.index", "ASCII"},
      {"uri: \"notes://a%20b\", name: a, description: D., read: notes.index", "ASCII"},
      {"uri: \"notes://{book\", name: a, description: D., read: notes.page", "a { has no }"},
      {"uri: \"notes://book}\", name: a, description: D., read: notes.page", "a } has no {"},
      {"uri: \"notes://{book}{page}\", name: a, description: D., read: notes.page", "something must stand"},
      {"uri: \"notes://{book}/{book}\", name: a, description: D., read: notes.page", "twice"},
      {"uri: \"notes://{book}\", name: a, description: D., read: notes.page", "needs \"page\""},
      {"uri: \"notes://{book}/{page}/{size}\", name: a, description: D., read: notes.page", "of type String"},
      {"uri: \"notes://{nothing}\", name: a, description: D., read: notes.index", "\"nothing\" is no input"},
      {"uri: \"notes://x\", name: a, description: D., read: notes.count", "content: resource"},
      {"uri: \"notes://x\", name: a, description: D., read: notes.add", "is no read"},
      {"uri: \"notes://x\", name: a, description: D., read: notes.gone", "is no read"},
      {"uri: \"notes://x\", name: A, description: D., read: notes.index", "small letters"},
      {"uri: \"notes://x\", name: a, read: notes.index", "description"},
  };
  for (const auto& [resource, says] : rows) {
    CAPTURE(resource);
    CHECK_THROWS_WITH(parsed("  - {" + resource + "}\n"), Catch::Contains(says));
  }
  const std::string once = "  - {uri: \"notes://x\", name: a, description: D., read: notes.index}\n";
  CHECK_THROWS_WITH(parsed(once + once), Catch::Contains("stands here twice"));
}

TEST_CASE("the scheme of an address is the prefix, whatever the service is called") {
  auto text = kHead + "  - {uri: \"notes://x\", name: a, description: D., read: notes.index}\n";
  text.replace(text.find("service: notes"), 14, "service: wiki\nprefix: notes");
  CHECK(parse_definition(text, "w").resources.size() == 1);
  text.replace(text.find("notes://x"), 9, "wiki://x");
  CHECK_THROWS_WITH(parse_definition(text, "w"), Catch::Contains("notes://"));
  for (auto at = text.find("notes"); at != std::string::npos; at = text.find("notes", at)) text.replace(at, 5, "n_s");
  text.replace(text.find("n_s.example"), 11, "notes.example");
  CHECK_THROWS_WITH(parse_definition(text, "w"), Catch::Contains("n-s://"));
  text.replace(text.find("wiki://x"), 8, "n-s://x");
  CHECK(parse_definition(text, "w").resources[0].uri == "n-s://x");
}

TEST_CASE("addresses with inputs that could be one are refused, others are not") {
  const auto with = [](const std::string& a, const std::string& b) {
    const auto one = [](const std::string& uri, const char* name) {
      return "  - {uri: \"notes://" + uri + "\", name: " + name + ", description: D., read: notes.page}\n";
    };
    return one(a, "a") + one(b, "b");
  };
  const std::pair<const char*, const char*> same[] = {
      {"{book}/{page}", "{page}/{book}"},     {"{book}/{page}", "{book}/{page}.txt"},
      {"{book}/x/{page}", "{book}/{page}/x"}, {"a{book}/{page}", "ab{book}/{page}"},
      {"{book}.{page}", "{book}-{page}"},
  };
  for (const auto& [a, b] : same) {
    CAPTURE(a, b);
    CHECK_THROWS_WITH(parsed(with(a, b)), Catch::Contains("let them differ"));
  }
  const std::pair<const char*, const char*> apart[] = {
      {"{book}/{page}", "{book}/{page}/x"},    {"{book}/{page}.txt", "{book}/{page}.md"},
      {"a{book}/{page}", "b{book}/{page}"},    {"{book}/x/{page}", "{book}/y/{page}"},
      {"{book}/x/{page}", "{book}.{page}/y/"}, {"{book}.{page}/a", "{book}/{page}.b"},
  };
  for (const auto& [a, b] : apart) {
    CAPTURE(a, b);
    CHECK(parsed(with(a, b)).size() == 2);
  }
  CHECK(parsed("  - {uri: \"notes://x/y\", name: a, description: D., read: notes.index}\n" +
               std::string("  - {uri: \"notes://{book}/{page}\", name: b, description: D., read: notes.page}\n"))
            .size() == 2);
}

TEST_CASE("an address gives the inputs that stand in it") {
  const auto of = [](std::string_view address, std::string_view uri) {
    const auto found = match_resource(address, uri);
    if (!found) return std::string("nothing");
    std::string text;
    for (const auto& [name, value] : *found) text.append(name).append("=").append(value).append(";");
    return text;
  };
  CHECK(of("notes://index", "notes://index") == "");
  CHECK(of("notes://{book}/{page}.txt", "notes://red/7.txt") == "book=red;page=7;");
  CHECK(of("notes://{book}", "notes://r%C3%A4d%2Fx") == "book=räd/x;");
  for (const char* uri : {"", "notes://", "notes://index", "notes:///7.txt", "notes://red/.txt", "notes://red/7.txtx",
                          "notes://red/7/8.txt", "notes://red/7", "notes://%zz/7.txt", "notes://a%/7.txt",
                          "notes://%ff/7.txt", "notes://%00/7.txt"}) {
    CAPTURE(uri);
    CHECK(of("notes://{book}/{page}.txt", uri) == "nothing");
  }
  CHECK(of("notes://index", "notes://indexes") == "nothing");
}

TEST_CASE("a resource names the record with which it changes") {
  const std::string page =
      "uri: \"notes://{book}/{page}\", name: page, description: P., read: notes.page, changes_with: ";
  const auto all = parsed("  - {" + page + "{collection: pages, id: \"{book}/{page}\"}}\n" +
                          "  - {uri: \"notes://index\", name: index, description: I., read: notes.index, changes_with: "
                          "{collection: pages}}\n");
  REQUIRE((all[0].changes_with && all[1].changes_with));
  CHECK((all[0].changes_with->collection == "pages" && all[0].changes_with->id == "{book}/{page}"));
  CHECK(all[1].changes_with->id.empty());
  const std::pair<const char*, const char*> rows[] = {{"{id: a}", "collection"},
                                                      {"{collection: Pages}", "small letters"},
                                                      {"{collection: pages, id: \"{size}\"}", "stands in the address"},
                                                      {"{collection: pages, id: \"{\"}", "has no }"}};
  for (const auto& [changes, why] : rows)
    CHECK_THROWS_WITH(parsed("  - {" + page + changes + "}\n"), Catch::Contains(why));
}

}  // namespace KRUXOS_TEST_FILE
