#include "core/state/word_runs.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

/// Words of the first run of `in` that `of` has; empty: there is none.
std::string shared(const std::string& of, const std::string& in) {
  const auto a = runs_in(of, 10'000), b = runs_in(in, 10'000);
  for (const auto& run : b.runs) {
    if (std::binary_search(a.runs.begin(), a.runs.end(), run)) return std::string(b.text_of(run));
  }
  return {};
}

const std::string kEight = "the offer is four hundred thousand and final";

}  // namespace

TEST_CASE("eight words in a row are found wherever they stand and however they are written") {
  CHECK(shared("Amy, " + kEight + ". Bye", "fyi: " + kEight + " he says") == kEight);
  CHECK(shared(kEight, "The OFFER is\n> four -- hundred, thousand; and \xef\xac\x81nal!") == kEight);
  CHECK(shared(kEight, "the offer is four hundred thousand and").empty());
  CHECK(shared(kEight, "the offer is four hundred and thousand final").empty());
  CHECK(shared("x " + kEight, "y " + kEight) == kEight);
  CHECK(shared("eins zwei drei vier fünf sechs sieben acht", "EINS ZWEI DREI VIER FÜNF SECHS SIEBEN ACHT").size() > 30);
  CHECK(shared("", "").empty());
  CHECK(shared("we don't sell it for less than that", "we don\u2019t sell it \u2014 for less than that") ==
        "we dont sell it for less than that");
  CHECK(shared("\u4ef7\u683c\u662f\u4e5d\u4e07\u7f8e\u5143\u6574\u3002",
               "\u4ef7\u683c\u662f\u4e5d\u4e07\u7f8e\u5143\u6574")
            .size() == 31);
}

TEST_CASE("no run goes over the end of a text, and there are no more than asked for") {
  const auto json = runs_in_json(R"({"a":"one two three four","b":["five six seven eight nine"]})", 100);
  CHECK(json.runs.empty());
  CHECK(runs_in_json(R"({"a":"one two three four five six seven \u0065ight nine"})", 100).runs.size() == 2);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "w" + std::to_string(i) + " ";
  CHECK(runs_in(many, 100'000).runs.size() == 993);
  CHECK(runs_in(many, 50).runs.size() == 50);
  CHECK(runs_in(many, 50).cut);
  CHECK_FALSE(runs_in(many, 1000).cut);
  std::string same;
  for (int i = 0; i < 1000; ++i) same += "again ";
  CHECK(runs_in(same, 100'000).runs.size() == 1);
  CHECK(runs_in(same + kEight, 500).cut);  // not known by what is left of doubles
}

TEST_CASE("hashes are the same in every version") {
  const auto runs = runs_in(kEight, 10).runs;
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].hash == 0x96af9382d16f);
}

}  // namespace KRUXOS_TEST_FILE
