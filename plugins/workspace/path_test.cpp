#include "workspace/path.hpp"

#include <kruxos/adapter/error.hpp>

#include <catch2/catch.hpp>
#include <string>

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using workspace::parse_path;

TEST_CASE("a path of a workspace is its names") {
  CHECK(parse_path("/workspace").is_root());
  CHECK(parse_path("/workspace/").relative() == ".");
  CHECK(parse_path(".").shown() == "/workspace");
  CHECK(parse_path("notes.txt").shown() == "/workspace/notes.txt");
  CHECK(parse_path("/workspace//a/./b/").shown() == "/workspace/a/b");
  CHECK(parse_path("/workspace/a/b").parent() == "a");
  CHECK(parse_path("a").parent() == ".");
  CHECK(parse_path("workspace/a").shown() == "/workspace/workspace/a");
  CHECK(parse_path("a/b").above().shown() == "/workspace/a");
  CHECK(parse_path("/workspace").above().is_root());
  CHECK(parse_path("a").child("b").relative() == "a/b");
}

TEST_CASE("a path that leads elsewhere is refused with a sentence") {
  const auto refused = [](const std::string& path) {
    try {
      parse_path(path);
    } catch (const kruxos::ProxyError& error) {
      CHECK(error.kind() == kruxos::ErrorKind::kInvalid);
      CHECK(error.has_no_effect());
      return std::string(error.what());
    }
    return std::string("taken");
  };
  CHECK_THAT(refused("/etc/passwd"), Contains("is not in the workspace"));
  CHECK_THAT(refused("/workspaces/a"), Contains("is not in the workspace"));
  CHECK_THAT(refused("/workspace/../etc"), Contains("\"..\""));
  CHECK_THAT(refused("a/.."), Contains("\"..\""));
  CHECK_THAT(refused(""), Contains("empty"));
  CHECK_THAT(refused(std::string("a\0b", 3)), Contains("control character"));
  CHECK_THAT(refused("a\nb"), Contains("control character"));
  CHECK_THAT(refused("a\xFF"), Contains("UTF-8"));
  CHECK_THAT(refused(std::string(256, 'a')), Contains("255 bytes"));
  CHECK_THAT(refused(std::string(4001, 'a')), Contains("4,000"));
  std::string deep;
  for (int i = 0; i < 65; ++i) deep += "a/";
  CHECK_THAT(refused(deep), Contains("64 directories"));
}

}  // namespace KRUXOS_TEST_FILE
