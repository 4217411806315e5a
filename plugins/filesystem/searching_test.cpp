#include <sys/stat.h>
#include <unistd.h>

#include "files_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using namespace filesystem::test;

TEST_CASE("files are found by name and by a text of a line") {
  Files files;
  files.put("a/Report-1.txt", "first\nthe Budget of May\nlast budget");
  files.put("b/report-2.csv", "budget");
  const auto by_name = files.read("search", R"({"name":"REPORT-?.*"})");
  CHECK_THAT(by_name, Contains("/workspace/a/Report-1.txt") && Contains("/workspace/b/report-2.csv") &&
                          Contains(R"("complete":true)"));
  const auto by_text = files.read("search", R"({"text":"BUDGET","path":"/workspace/a"})");
  CHECK_THAT(by_text, Contains(R"("line":2,"excerpt":"the Budget of May")") &&
                          Contains(R"("line":3,"excerpt":"last budget")") && !Contains("report-2"));
  const auto exact = files.read("search", R"({"text":"Budget","case_sensitive":true})");
  CHECK_THAT(exact, Contains(R"("line":2)") && !Contains(R"("line":3)"));
  const auto both = files.read("search", R"({"text":"budget","name":"*.csv"})");
  CHECK_THAT(both, Contains("report-2.csv") && !Contains("Report-1"));
  CHECK_THAT(files.read("search", R"({"name":"nothing"})"), Contains(R"("matches":[])"));
}

TEST_CASE("a search passes what is no text, follows no link, and says where it ended") {
  Files files;
  files.put("bin", std::string("needle\0", 7));
  files.put("text", "needle\nneedle\nneedle");
  REQUIRE(mkfifo((files.files / "fifo").c_str(), 0600) == 0);
  std::ofstream(files.scratch.path() / "outside") << "needle";
  fs::create_symlink(files.scratch.path(), files.files / "out");
  const auto found = files.read("search", R"({"text":"needle"})");
  CHECK_THAT(found,
             Contains("/workspace/text") && !Contains("outside") && !Contains("bin") && Contains(R"("complete":true)"));
  const auto cut = files.read("search", R"({"text":"needle","limit":2})");
  CHECK_THAT(cut, Contains(R"("complete":false)") && Contains("limit is reached"));
  files.put("large", std::string(9 << 20, 'x'));
  CHECK_THAT(files.read("search", R"({"text":"needle"})"), Contains("larger than 8 MiB"));
}

TEST_CASE("a search goes on beside what it may not look into, and says so") {
  constexpr uid_t nobody = 65534;
  Files files;
  files.put("closed/a", "needle");
  files.put("open/a", "needle");
  for (const mode_t mode : {0000, 0400}) {
    REQUIRE(chmod((files.files / "closed").c_str(), mode) == 0);
    (void)files.read("list", quoted_path("/workspace"));  // makes what is missing
    const bool is_root = geteuid() == 0;
    if (is_root) {
      REQUIRE(chown(files.scratch.path().c_str(), nobody, nobody) == 0);
      for (const auto& at : fs::recursive_directory_iterator(files.scratch.path()))
        REQUIRE(chown(at.path().c_str(), nobody, nobody) == 0);
      REQUIRE(seteuid(nobody) == 0);
    }
    const auto found = files.read("search", R"({"text":"needle"})");
    if (is_root) REQUIRE(seteuid(0) == 0);
    CHECK_THAT(found, Contains("/workspace/open/a") && Contains(R"("complete":false)") && Contains("permissions"));
  }
}

}  // namespace KRUXOS_TEST_FILE
