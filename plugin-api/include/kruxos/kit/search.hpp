// kruxos/kit/search.hpp - a search as agents ask for it.
#pragma once
#include <kruxos/adapter/replica.hpp>
#include <kruxos/kit/json.hpp>
#include <kruxos/kit/page.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kruxos::kit {
namespace detail {

inline bool is_query_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

inline std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_query_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_query_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// How many bytes the quotation mark at the beginning of `text` takes, of whatever kind: programs that write for people
/// make curly ones of straight ones, and languages have their own; 0 where there is none.
inline std::size_t quote_size(std::string_view text) {
  constexpr std::string_view marks[] = {"\"",           "\xE2\x80\x9C", "\xE2\x80\x9D", "\xE2\x80\x9E",
                                        "\xE2\x80\x9F", "\xC2\xAB",     "\xC2\xBB"};
  for (const auto mark : marks) {
    if (text.substr(0, mark.size()) == mark) return mark.size();
  }
  return 0;
}

/// The phrase whose opening quotation mark of `size` bytes stands at `at`, which moves behind the closing one.
inline std::string_view take_phrase(std::string_view query, std::size_t& at, std::size_t size) {
  auto end = at + size;
  while (end < query.size() && quote_size(query.substr(end)) == 0) ++end;
  const auto phrase = without_blanks(query.substr(at + size, end - at - size));
  if (end == query.size() || phrase.empty()) {
    const std::string what = end == query.size() ? "is not closed" : "has nothing in it";
    throw ProxyError(ErrorKind::kInvalid, "A quotation in the query " + what +
                                              ": quotation marks stand before and behind a phrase, such as \"release "
                                              "train\". Leave them out to look for the words.")
        .type("InvalidInput")
        .no_effect();
  }
  at = end + quote_size(query.substr(end));
  return phrase;
}

}  // namespace detail

struct QueryWord {
  std::string text;
  bool is_phrase = false;  ///< it stood in quotation marks
};

/// The words of a query and its phrases in quotation marks, as they stand in it. Throws ProxyError InvalidInput for a
/// quotation that is not closed, or empty.
inline std::vector<QueryWord> query_words(std::string_view query) {
  std::vector<QueryWord> words;
  for (std::size_t at = 0; at < query.size();) {
    if (detail::is_query_blank(query[at])) {
      ++at;
      continue;
    }
    if (const auto size = detail::quote_size(query.substr(at)); size > 0) {
      words.push_back({std::string(detail::take_phrase(query, at, size)), true});
      continue;
    }
    std::string word;
    while (at < query.size() && detail::quote_size(query.substr(at)) == 0 && !detail::is_query_blank(query[at]))
      word += query[at++];
    words.push_back({std::move(word), false});
  }
  return words;
}

/// The same, each once, whether a phrase or a word. Throws as query_words() does.
inline std::vector<std::string> words_of(std::string_view query) {
  std::vector<std::string> words;
  for (auto& word : query_words(query)) {
    if (std::find(words.begin(), words.end(), word.text) == words.end()) words.push_back(std::move(word.text));
  }
  return words;
}

/// Fits where the record's text contains all words of `query`, in any order, whatever their case, as parts of words
/// too; a phrase in quotation marks as it stands. Without words: everything. Throws as words_of() does.
inline Condition contains_words(std::string_view query) {
  std::vector<Condition> all;
  for (auto& word : words_of(query)) all.push_back(contains_text(std::move(word)));
  return all.size() == 1 ? all.front() : all_of(std::move(all));
}

/// The query that a capability's inputs `query` (a text that records contain; empty finds all), `limit` and `offset`
/// ask for. Further conditions go into `where.children`: all of them must fit.
inline Query search_query(std::string collection, const Json& params) {
  const auto number = [&](const char* name, std::int64_t otherwise) {
    const auto value = integer_of(params, name, otherwise);
    return std::in_range<std::uint32_t>(value) ? static_cast<std::uint32_t>(value) : 0U;
  };
  Query query;
  query.collection = std::move(collection);
  if (const auto text = text_of(params, "query"); !text.empty())
    query.where.children.push_back(contains_text(std::string(text)));
  query.limit = number("limit", query.limit);
  query.offset = number("offset", 0);
  return query;
}

/// Gives the record a tag for each text in the list `name` of its service's JSON, such as labels; what is no list, no
/// text or no tag (empty, above 256 bytes) is passed over.
inline void add_tags(Record& record, const Json& from, std::string_view name) {
  const auto* list = member(from, name);
  if (list == nullptr || !list->IsArray()) return;
  for (const auto& one : list->GetArray()) {
    if (one.IsString() && one.GetStringLength() > 0 && one.GetStringLength() <= 256)
      record.tag(std::string(one.GetString(), one.GetStringLength()));
  }
}

/// The rows of the query as they were put, in the member `name`, and where the next page begins (next_offset).
inline std::string search_page(const Reader& reader, const Query& query, std::string_view name) {
  PageWriter page(name);
  const auto result = reader.query(query, [&](const Row& row) { return page.add(row.json); });
  return page.done(result, &query);
}

}  // namespace kruxos::kit
