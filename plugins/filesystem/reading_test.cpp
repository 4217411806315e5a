#include <sys/stat.h>

#include "files_fixture.hpp"
#include "glob.hpp"

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using namespace filesystem::test;
using kruxos::kit::parse;
using kruxos::kit::text_of;

TEST_CASE("a file is read in pages that end between characters") {
  Files files;
  files.put("a.txt", "aé€𝄞z");  // 1 + 2 + 3 + 4 + 1 bytes
  std::string all;
  std::int64_t offset = 0;
  for (int pages = 0; pages < 10; ++pages) {
    const auto page = parse(
        files.read("read", R"({"path":"/workspace/a.txt","max_bytes":4,"offset":)" + std::to_string(offset) + "}"));
    CHECK(text_of(page, "encoding") == "text");
    CHECK(kruxos::kit::integer_of(page, "size") == 11);
    all += text_of(page, "content");
    offset = kruxos::kit::integer_of(page, "next_offset", -1);
    if (offset < 0) break;
  }
  CHECK(all == "aé€𝄞z");
  CHECK(text_of(parse(files.read("read", R"({"path":"a.txt","offset":99})")), "content").empty());
}

TEST_CASE("what is no text comes as Base64, or is refused as text") {
  Files files;
  files.put("bin", std::string("\x00\xFF", 2));
  const auto page = parse(files.read("read", quoted_path("bin")));
  CHECK(text_of(page, "encoding") == "base64");
  CHECK(text_of(page, "content") == "AP8=");
  CHECK_THROWS_WITH(files.read("read", R"({"path":"bin","encoding":"text"})"), Contains("not UTF-8"));
  files.put("plain", "hi");
  CHECK(text_of(parse(files.read("read", R"({"path":"plain","encoding":"base64"})")), "content") == "aGk=");
}

TEST_CASE("a file of a terabyte with a hole costs one page") {
  Files files;
  files.put("huge", "begin");
  fs::resize_file(files.files / "huge", 1ULL << 40);
  const auto page = parse(files.read("read", R"({"path":"huge","max_bytes":1048576,"offset":1000000000000})"));
  CHECK(kruxos::kit::integer_of(page, "next_offset") == 1'000'001'048'576);
}

TEST_CASE("a directory is listed by name, in pages") {
  Files files;
  for (const char* name : {"c", "a", "b"}) files.put(name, name);
  fs::create_symlink("/etc", files.files / "d");
  REQUIRE(mkfifo((files.files / "e").c_str(), 0600) == 0);
  const auto page = files.read("list", R"({"path":"/workspace","limit":2,"offset":1})");
  const auto json = parse(page);
  const auto& entries = json["entries"];
  REQUIRE(entries.Size() == 2);
  CHECK(text_of(entries[0], "path") == "/workspace/b");
  CHECK(kruxos::kit::integer_of(json, "total") == 5);
  CHECK(kruxos::kit::integer_of(json, "next_offset") == 3);
  const auto rest = files.read("list", R"({"offset":3})");
  CHECK_THAT(rest, Contains(R"("type":"symlink")") && Contains(R"("type":"fifo")") && !Contains("next_offset"));
  CHECK_THROWS_WITH(files.read("list", quoted_path("d")), Contains("symbolic link"));
  CHECK_THROWS_WITH(files.read("list", quoted_path("a")), Contains("no directory"));
}

TEST_CASE("an agent sees neither another agent's files nor what its own undos keep") {
  Files files;
  files.put("mine", "x");
  files.bench.agent = "agent_2";
  CHECK_THAT(files.read("list", "{}"), Contains(R"("total":0)"));
  CHECK_THROWS_WITH(files.read("read", quoted_path("/workspace/../../agent_1/files/mine")), Contains("\"..\""));
  files.bench.agent = "agent_1";
  auto remove = files.change("delete", quoted_path("mine"));
  REQUIRE(files.run(remove).outcome == Outcome::kDone);
  REQUIRE(fs::exists(files.root / "agent_1" / "undo" / remove.write_id / "kept"));
  CHECK_THAT(files.read("list", "{}"), Contains(R"("total":0)"));
  CHECK_THAT(files.read("search", R"({"text":"x"})"), Contains(R"("matches":[])"));
  for (const char* path : {"/workspace/../undo", "../undo", "undo", "/undo"})
    CHECK_THROWS_AS(files.read("list", quoted_path(path)), kruxos::ProxyError);
  files.bench.agent = "";
  CHECK_THROWS_WITH(files.read("list", "{}"), Contains("which agent"));
}

TEST_CASE("what stands there is looked at without opening it") {
  Files files;
  files.put("a", "abc");
  REQUIRE(mkfifo((files.files / "fifo").c_str(), 0600) == 0);
  fs::permissions(files.files / "a", fs::perms::owner_read);
  CHECK_THAT(files.read("stat", quoted_path("a")), Contains(R"("size":3)") && Contains(R"("mode":"0400")"));
  CHECK_THAT(files.read("stat", quoted_path("fifo")), Contains(R"("type":"fifo")"));
  CHECK_THAT(files.read("stat", quoted_path("/workspace")), Contains(R"("type":"directory")"));
  CHECK_THROWS_WITH(files.read("stat", quoted_path("b")), Contains("There is no /workspace/b"));
}

TEST_CASE("two spellings of a path are one") {
  Files files;
  CHECK(files.bench.resolve("filesystem.move", R"({"from":"a//b/","to":"/workspace/./c"})") ==
        R"({"from":"/workspace/a/b","to":"/workspace/c"})");
  CHECK_THROWS_WITH(files.bench.resolve("filesystem.write", R"({"path":"/etc/x","content":""})"),
                    Contains("not in the workspace"));
}

TEST_CASE("patterns for names cost no more than both lengths") {
  CHECK(filesystem::fits("*.csv", "data.csv"));
  CHECK_FALSE(filesystem::fits("*.csv", "data.csvx"));
  CHECK(filesystem::fits("a?c", "aéc"));
  CHECK_FALSE(filesystem::fits("a?c", "ac"));
  CHECK(filesystem::fits("*a*b*", "xxaxxbxx"));
  CHECK(filesystem::fits("**", ""));
  CHECK_FALSE(filesystem::fits("", "a"));
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "a*";
  CHECK_FALSE(filesystem::fits(pattern + "b", std::string(255, 'a')));
}

}  // namespace KRUXOS_TEST_FILE
