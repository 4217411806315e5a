#include "core/replica/gram_index.hpp"

#include <sqlite3.h>
#include "core/storage/sqlite_error.hpp"
#include "core/storage/statement.hpp"

namespace krux {
namespace {

using Emit = int (*)(void*, int, const char*, int, int, int);
constexpr char kFieldEnd = '\x1f';

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
    throw Error(ErrorCode::kDatabaseError,
                "This SQLite library lacks FTS5, which searching needs. Install libsqlite3 with FTS5.");
  }
}

std::string quoted_token(std::string_view token) {
  std::string text = "\"";
  for (const char c : token) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

std::size_t characters_of(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at = next_character(text, at)) ++count;
  return count;
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

}  // namespace krux
