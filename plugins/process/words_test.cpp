#include "words.hpp"

#include <kruxos/adapter/error.hpp>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using process::words_of;
using Words = std::vector<std::string>;

TEST_CASE("a command is words, with the quotation marks of a shell") {
  CHECK(words_of("ls -la /workspace") == Words{"ls", "-la", "/workspace"});
  CHECK(words_of("  a\t b  ") == Words{"a", "b"});
  CHECK(words_of(R"(grep 'a b|c' "d \"e\" \\ f" g\ h '')") == Words{"grep", "a b|c", R"(d "e" \ f)", "g h", ""});
  CHECK(words_of("a'b'\"c\"") == Words{"abc"});
}

TEST_CASE("what only a shell could do is refused instead of being taken as a word") {
  for (const char* command : {"a | b", "a; b", "a && b", "a > b", "a < b", "echo $HOME", "echo `id`", "ls *.txt",
                              "echo \"$HOME\"", "(a)", "a\nb", "ls ~", "a #b"}) {
    INFO(command);
    CHECK_THROWS_WITH(words_of(command), Contains("shell: true"));
  }
  CHECK_THROWS_WITH(words_of("a 'b"), Contains("without its end"));
  CHECK_THROWS_WITH(words_of("a \"b"), Contains("without its end"));
  CHECK_THROWS_WITH(words_of("a\\"), Contains("backslash"));
  CHECK_THROWS_WITH(words_of("  "), Contains("empty"));
  std::string many;
  for (int i = 0; i < 1001; ++i) many += "a ";
  CHECK_THROWS_WITH(words_of(many), Contains("1,000"));
}

}  // namespace KRUXOS_TEST_FILE
