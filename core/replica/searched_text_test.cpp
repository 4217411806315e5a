// What is stored of texts, tags and named texts, and what is looked for.
#include "core/replica/searched_text.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "core/replica/gram_index.hpp"
#include "core/replica/replica_limits.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

CollectionSpec plain_spec() {
  CollectionSpec spec;
  spec.name = "messages";
  spec.searchable = true;
  return spec;
}

CollectionSpec spec_with_all() {
  auto spec = plain_spec();
  spec.tags = true;
  spec.texts = {{"subject"}, {"sender", true}, {"file"}};
  return spec;
}

/// Tags are told by their length, so that their numbers are known.
std::string own(const Record& record, const CollectionSpec& spec) {
  return own_searched_text(record, spec, [](const std::string& tag) { return static_cast<std::int64_t>(tag.size()); });
}

std::string letter(const CollectionSpec& spec, std::size_t index, const std::string& value) {
  return named_text_part(value, spec, index);
}

const std::string kFirstPrivate = "\xEE\x80\x80", kLastPrivate = "\xEF\xA3\xBF";

}  // namespace

TEST_CASE("the texts of a collection without tags and named texts are folded and nothing else") {
  const auto spec = plain_spec();
  Record record;
  record.text = "Straße " + kFirstPrivate + "\x1f" + "Two";
  CHECK(own(record, spec) == "strasse " + kFirstPrivate + "\x1f" + "two");
  CHECK(searched_text("Kept " + kLastPrivate, spec) == "kept " + kLastPrivate);
  CHECK(searched_part(kFirstPrivate + "X\x1f", spec) == kFirstPrivate + "x");
  CHECK(searched_part("\x1f", spec).empty());
}

TEST_CASE("a tag is one token of the index, by its number") {
  std::set<std::string> seen;
  const auto check = [&](std::int64_t number) {
    const auto gram = tag_gram(number);
    REQUIRE(gram.size() == 12);
    REQUIRE(grams_of(gram) == std::vector<std::string_view>{gram});
    REQUIRE(seen.insert(gram).second);
  };
  for (std::int64_t number = 0; number < 5000; ++number) check(number);
  for (int bit = 13; bit < kTagNumberBits; ++bit) check(std::int64_t{1} << bit);
  check((std::int64_t{1} << kTagNumberBits) - 1);
}

TEST_CASE("no tag begins within tags that stand side by side, nor within named texts") {
  const auto spec = spec_with_all();
  std::string all, bytes;
  for (int i = 0; i < 600; ++i) all += tag_gram(i * 7);
  for (int c = 1; c < 128; ++c) bytes += static_cast<char>(c);
  for (std::size_t i = 0; i < spec.texts.size(); ++i) all += letter(spec, i, bytes);
  for (int i = 0; i < 4200; ++i) REQUIRE((all.find(tag_gram(i)) != std::string::npos) == (i % 7 == 0));
}

TEST_CASE("each named text has characters of its own, and the last one is none of a tag's") {
  auto spec = plain_spec();
  for (std::size_t i = 0; i < replica_limits::kMostNamedTexts; ++i)
    spec.texts.push_back({"t" + std::to_string(i), true});
  std::string every;
  for (int c = 1; c < 256; ++c) every += static_cast<char>(c);
  std::set<std::string> characters;
  for (std::size_t i = 0; i < spec.texts.size(); ++i) {
    const auto stored = letter(spec, i, every);
    for (std::size_t at = 0; at < stored.size(); at += 3) REQUIRE(characters.insert(stored.substr(at, 3)).second);
  }
  for (std::int64_t number : {0, 1, 255, 256, 70'000}) {
    const auto gram = tag_gram(number);
    for (std::size_t at = 0; at < gram.size(); at += 3) CHECK_FALSE(characters.contains(gram.substr(at, 3)));
  }
}

TEST_CASE("a record's text, tags and named texts stand apart, in the order of the declaration") {
  const auto spec = spec_with_all();
  Record record;
  record.text = "Bare\x1fText";
  record.tags = {"a", "bb"};
  record.texts = {{"sender", "Ann"}, {"subject", "Dinner"}, {"sender", "Bob"}};
  const auto apart = std::string("\x1f");
  CHECK(own(record, spec) == "bare\x1ftext" + apart + tag_gram(1) + apart + tag_gram(2) + apart +
                                 letter(spec, 0, "dinner") + apart + letter(spec, 1, "Ann") + apart +
                                 letter(spec, 1, "Bob"));
  CHECK(letter(spec, 0, "DINNER") == letter(spec, 0, "dinner"));
  CHECK(letter(spec, 1, "DINNER") != letter(spec, 1, "dinner"));
}

TEST_CASE("where there are tags, nobody's text is one") {
  const auto spec = spec_with_all();
  CHECK(searched_text("a" + tag_gram(1) + "b" + letter(spec, 0, "x"), spec) == "ab");
  CHECK(searched_text(kFirstPrivate + "Grüße 東京 😀 Ｗ。\xEF\xBF\xBD" + kLastPrivate, spec) ==
        "grusse 東京 😀 w。\xEF\xBF\xBD");
  CHECK(searched_text("\xED\x9F\xBB\xEF\xA4\x80", plain_spec()) == searched_text("\xED\x9F\xBB\xEF\xA4\x80", spec));
  CHECK(searched_text("\xEE\x80", spec).empty());  // cut off; nothing crashes
  CHECK(searched_part("pl" + tag_gram(9) + "ans", spec) == "plans");
  CHECK(searched_part("", spec).empty());
  CHECK(searched_part(tag_gram(9), spec) == tag_gram(kNoTag));
  CHECK(named_text_part(kLastPrivate, spec, 0) == tag_gram(kNoTag));
  CHECK(letter(spec, 0, "a" + kLastPrivate + "b") == letter(spec, 0, "ab"));
  CHECK(letter(spec, 1, kLastPrivate).size() == 9);  // exact: its bytes as they are
}

}  // namespace KRUXOS_TEST_FILE
