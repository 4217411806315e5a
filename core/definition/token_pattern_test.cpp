#include "core/definition/token_pattern.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <regex>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

bool fits_token(const std::string& pattern, const std::string& token) {
  return TokenPattern(pattern).matches(token);
}

std::string unfit(const std::string& pattern) {
  try {
    TokenPattern{pattern};
  } catch (const TokenPattern::Unfit& problem) {
    return problem.what();
  }
  return "it is fit";
}

}  // namespace

TEST_CASE("a token has the form that its pattern says") {
  CHECK(fits_token("xox[bp]-[A-Za-z0-9-]{4,250}", "xoxb-1234-abCD"));
  CHECK_FALSE(fits_token("xox[bp]-[A-Za-z0-9-]{4,250}", "xoxb-123"));
  CHECK_FALSE(fits_token("xox[bp]-[A-Za-z0-9-]{4,250}", "xoxb-" + std::string(251, 'a')));
  CHECK(fits_token("note-[A-Za-z0-9]{4,64}", "note-abcd"));
  CHECK(fits_token("[A-Za-z0-9._-]{8,200}", "a.b_c-d.e"));
  CHECK(fits_token("^(ghp|gho)_[A-Za-z0-9]{36}$", "gho_" + std::string(36, 'x')));
  CHECK(fits_token("(?:a|b(c|d))e", "bde"));
  CHECK_FALSE(fits_token("(?:a|b(c|d))e", "be"));
  CHECK(fits_token("", ""));
  CHECK_FALSE(fits_token("a", std::string(TokenPattern::kLongestToken + 1, 'a')));
  CHECK(fits_token("a*", std::string(TokenPattern::kLongestToken, 'a')));
}

TEST_CASE("a pattern means what it means in ECMAScript") {
  const std::string patterns[] = {"a*ab?[ab]{1,3}c+",
                                  "(a|ab)(c|bcd)(d*)",
                                  "[^a]b{2}",
                                  "\\d+\\w?\\s*",
                                  "a{2,}|b{0,2}",
                                  "[a-c-]+\\.\\-[\\]d]",
                                  "a+?b*?c??",
                                  "^ab$|^c",
                                  "[\\w-]{1,4}",
                                  "\\D\\W\\S.",
                                  "x{0}a",
                                  "[]a",
                                  "[^]a",
                                  "a|",
                                  "(|a)b"};
  std::mt19937 random(7);
  for (const auto& pattern : patterns) {
    const TokenPattern ours(pattern);
    const std::regex theirs(pattern, std::regex::ECMAScript);
    for (int i = 0; i < 2000; ++i) {
      std::string token;
      for (auto left = random() % 8; left > 0; --left) token += "aabbccd-.]_1 \nX"[random() % 15];
      CAPTURE(pattern, token);
      REQUIRE(ours.matches(token) == std::regex_match(token, theirs));
    }
  }
}

TEST_CASE("what is no pattern is refused with the place") {
  CHECK_THAT(unfit("a(b"), Catch::Contains("without a closing one at letter 4"));
  CHECK_THAT(unfit("a)b"), Catch::Contains("without an opening one"));
  for (const char* pattern :
       {"(a)*", "(a|b){2}", "(?=a)", "(?!a)", "a**",   "a{2}{3}", "{2}", "a{3,2}", "a{5000}", "a{",
        "[a",   "[z-a]",    "\\b",   "\\1",   "\\x41", "\\",      "*",   "a^b",    "a$b",     "[\\d-z]{"}) {
    CAPTURE(pattern);
    CHECK(unfit(pattern) != "it is fit");
  }
}

TEST_CASE("no pattern and no token takes long, or a deep stack") {
  const auto begin = std::chrono::steady_clock::now();
  CHECK(unfit("evil-(a*)*c").find("brackets are counted") == 0);
  CHECK(unfit(std::string(45, '(') + "a" + std::string(45, ')')).find("nested too deeply") != std::string::npos);
  CHECK(unfit("(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)").find("too many") == 0);
  std::string stars;
  for (int i = 0; i < 99; ++i) stars += "a*";
  CHECK_FALSE(fits_token(stars + "c", std::string(TokenPattern::kLongestToken, 'a')));
  CHECK_FALSE(fits_token("[a]{0,4096}[a]{0,4096}[a]{0,4096}b", std::string(TokenPattern::kLongestToken, 'a')));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
}

}  // namespace KRUXOS_TEST_FILE
