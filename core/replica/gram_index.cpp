#include "core/replica/gram_index.hpp"

#include <sqlite3.h>
#include <string.h>

#include <algorithm>

#include "core/storage/sqlite_error.hpp"
#include "core/storage/statement.hpp"

namespace krux {
namespace {

using Emit = int (*)(void*, int, const char*, int, int, int);
constexpr char kFieldEnd = '\x1f';
constexpr std::size_t kMostGrams = 4;

std::size_t next_character(std::string_view text, std::size_t at) {
  ++at;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
  return at;
}

int tokenize_text(std::string_view text, void* context, Emit emit) {
  for (std::size_t at = 0; at < text.size(); at = next_character(text, at)) {
    std::size_t end = at;
    for (std::size_t n = 0; n < kGramLength && end < text.size() && text[end] != kFieldEnd; ++n) {
      end = next_character(text, end);
    }
    if (end == at) continue;
    const int code =
        emit(context, 0, text.data() + at, static_cast<int>(end - at), static_cast<int>(at), static_cast<int>(end));
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

int tokenize(Fts5Tokenizer*, void* context, int flags, const char* bytes, int size, Emit emit) {
  if (size <= 0) return SQLITE_OK;
  // A query's strings are tokens already.
  if ((flags & FTS5_TOKENIZE_QUERY) != 0) return emit(context, 0, bytes, size, 0, size);
  return tokenize_text({bytes, static_cast<std::size_t>(size)}, context, emit);
}

int create(void*, const char**, int, Fts5Tokenizer** out) {
  static char stateless;
  *out = reinterpret_cast<Fts5Tokenizer*>(&stateless);
  return SQLITE_OK;
}

void destroy(Fts5Tokenizer*) {}

std::string quoted(std::string_view token) {
  std::string text = "\"";
  for (const char c : token) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

std::vector<std::string_view> grams_of(std::string_view term) {
  std::vector<std::size_t> starts;  // of each character, and the end
  for (std::size_t at = 0; at < term.size(); at = next_character(term, at)) starts.push_back(at);
  starts.push_back(term.size());
  std::vector<std::string_view> grams;
  for (std::size_t i = 0; i + kGramLength < starts.size(); ++i) {
    grams.push_back(term.substr(starts[i], starts[i + kGramLength] - starts[i]));
  }
  return grams;
}

std::size_t count_in(const std::vector<std::string>& sample, std::string_view gram) {
  return static_cast<std::size_t>(std::count_if(sample.begin(), sample.end(), [gram](const std::string& text) {
    return ::memmem(text.data(), text.size(), gram.data(), gram.size()) != nullptr;
  }));
}

/// `count` of them, evenly spread, the first and the last among them.
std::vector<std::string_view> spread(const std::vector<std::string_view>& grams, std::size_t count) {
  if (grams.size() <= count) return grams;
  std::vector<std::string_view> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(grams[i * (grams.size() - 1) / (count - 1)]);
  return chosen;
}

/// The rarest; those that the sample does not have at all are enough by themselves.
std::vector<std::string_view> rarest(const std::vector<std::string_view>& grams,
                                     const std::vector<std::string>& sample) {
  std::vector<std::pair<std::size_t, std::string_view>> counted;
  std::vector<std::string_view> unseen;
  for (const auto gram : spread(grams, 32)) {
    const auto count = count_in(sample, gram);
    counted.emplace_back(count, gram);
    if (count == 0) unseen.push_back(gram);
  }
  if (unseen.size() >= kMostGrams) return spread(unseen, kMostGrams);
  std::stable_sort(counted.begin(), counted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string_view> chosen;
  for (const auto& [count, gram] : counted) {
    if (chosen.size() < kMostGrams) chosen.push_back(gram);
  }
  return chosen;
}

}  // namespace

void register_gram_tokenizer(sqlite3* db) {
  fts5_api* api = nullptr;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &statement, nullptr) == SQLITE_OK) {
    sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", nullptr);
    sqlite3_step(statement);
  }
  sqlite3_finalize(statement);
  fts5_tokenizer tokenizer{create, destroy, tokenize};
  if (!api || api->xCreateTokenizer(api, "krux_gram", nullptr, &tokenizer, nullptr) != SQLITE_OK) {
    throw Error("DatabaseError",
                "This SQLite library lacks FTS5, which searching needs. Install libsqlite3 with FTS5.");
  }
}

GramQuery gram_query(std::string_view term, const std::vector<std::string>& sample) {
  const auto grams = grams_of(term);
  if (grams.empty()) return {quoted(term) + " *", true, true};
  if (grams.size() == 1) return {quoted(grams[0]), true, false};
  std::string expression;
  for (const auto gram : rarest(grams, sample)) expression += (expression.empty() ? "" : " AND ") + quoted(gram);
  return {"(" + expression + ")", false, false};
}

}  // namespace krux
