#include "query.hpp"

#include <algorithm>
#include <kruxos/kit/search.hpp>
#include <vector>

#include "resolve.hpp"

namespace slack {
namespace {

using kruxos::kit::QueryWord;

struct Modifier {
  std::string_view name, instead;
};
constexpr Modifier kModifiers[] = {{"from:", "user"},
                                   {"in:", "channel"},
                                   {"before:", "to_date"},
                                   {"after:", "from_date"},
                                   {"on:", "from_date and to_date"},
                                   {"during:", "from_date and to_date"}};

constexpr const char* kQuote = " To look for the text as it stands, put it in quotation marks.";

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_plus_word(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0; };
  return text.size() > 1 && text[0] == '+' && is_letter(text[1]);
}

/// `next`: the word behind it, or nullptr.
void refuse_operator(const std::string& word, const QueryWord* next) {
  if (word == "OR")
    throw invalid("There is no OR in a query here: all words must be there. Search for each." + std::string(kQuote));
  if (word == "AROUND" && next && is_number(next->text))
    throw invalid("There is no AROUND in a query here. Give the words alone, or a phrase in quotation marks.");
  if (is_plus_word(word))
    throw invalid("There is no + in a query here: \"" + word.substr(1) +
                  "\" finds the word, and longer ones that have it in them. Leave the + out." + kQuote);
  for (const auto& modifier : kModifiers) {
    if (word.size() > modifier.name.size() && word.starts_with(modifier.name))
      throw invalid("A query here has no \"" + std::string(modifier.name) + "\": give the input " +
                    std::string(modifier.instead) + "." + kQuote);
  }
}

}  // namespace

kruxos::Condition words_condition(std::string_view query) {
  const auto words = kruxos::kit::query_words(query);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].is_phrase) refuse_operator(words[i].text, i + 1 < words.size() ? &words[i + 1] : nullptr);
  }
  return kruxos::kit::contains_words(query);
}

}  // namespace slack
