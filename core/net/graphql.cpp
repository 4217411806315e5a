#include "core/net/graphql.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kLargestDocument = 1 << 20;
constexpr const char* kUnreadable = "its GraphQL document cannot be read";

bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool in_name(char c) {
  return begins_name(c) || (c >= '0' && c <= '9');
}

/// The definitions of a document, as far as it takes to tell their kinds. Spec: October 2021, section 2.
class Document {
 public:
  explicit Document(std::string_view text) : rest_(text) {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
  }

  std::string why_not_query() {
    // Servers do not agree on where a line of anything else ends.
    if (std::any_of(rest_.begin(), rest_.end(),
                    [](unsigned char c) { return c >= 0x7f || (c < 0x20 && c != '\t' && c != '\n' && c != '\r'); }))
      return "its GraphQL document has other characters than ASCII; give them as variables";
    bool any = false;
    while (next()) {
      any = true;
      if (token_ == "{") {
        if (!skip_body(1)) return kUnreadable;
        continue;
      }
      if (!begins_name(token_.front())) return kUnreadable;
      if (token_ != "query" && token_ != "fragment")
        return fmt::format("its GraphQL document has a {}, which is no query", printable(token_.substr(0, 40)));
      if (!skip_body(0)) return kUnreadable;
    }
    return any && rest_.empty() ? "" : kUnreadable;
  }

 private:
  /// To the brace that closes the definition's selection; `depth` brackets are open.
  bool skip_body(int depth) {
    while (next()) {
      const char c = token_.front();
      if (c == '{' || c == '(' || c == '[') ++depth;
      if (c == '}' || c == ')' || c == ']') {
        if (--depth < 0) return false;
        if (depth == 0 && c == '}') return true;
      }
    }
    return false;
  }

  /// False at the end, and where a text does not end: something of it is left then.
  bool next() {
    skip_ignored();
    if (rest_.empty()) return false;
    if (rest_.front() == '"') return take_string();
    std::size_t size = 1;
    if (begins_name(rest_.front())) {
      while (size < rest_.size() && in_name(rest_[size])) ++size;
    }
    take(size);
    return true;
  }

  void skip_ignored() {
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (c == '#') {
        rest_.remove_prefix(std::min(rest_.find_first_of("\r\n"), rest_.size()));
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',') {
        rest_.remove_prefix(1);
      } else {
        return;
      }
    }
  }

  bool take_string() {
    if (rest_.starts_with(R"(""")")) return false;  // older servers read another document where these stand
    for (std::size_t at = 1; at < rest_.size(); ++at) {
      const char c = rest_[at];
      if (c == '\\') {
        ++at;
      } else if (c == '"') {
        take(at + 1);
        return true;
      } else if (c == '\n' || c == '\r') {
        return false;
      }
    }
    return false;
  }

  void take(std::size_t size) {
    token_ = rest_.substr(0, size);
    rest_.remove_prefix(size);
  }

  std::string_view rest_, token_;
};

/// A server may take another member for the document, or for the name of one that it keeps.
bool has_known_members(const JsonValue& request) {
  return std::all_of(request.MemberBegin(), request.MemberEnd(), [](const auto& member) {
    const auto name = view(member.name);
    return name == "query" || name == "variables" || name == "operationName";
  });
}

std::string why_not_request(const JsonValue& request) {
  const auto text = request.IsObject() ? find_string(request, "query") : std::nullopt;
  if (!text) return "it is no JSON object with a \"query\"";
  if (!has_known_members(request)) return "it has other members than query, variables and operationName";
  return Document(*text).why_not_query();
}

}  // namespace

std::string why_not_graphql_query(std::string_view body) {
  try {
    const auto document = parse_json(body, "the body", {kLargestDocument, 64, OddText::kRefused});
    if (!document.IsArray()) return why_not_request(document);
    if (document.Empty()) return "it asks for nothing";
    for (const auto& request : document.GetArray()) {
      if (auto why = why_not_request(request); !why.empty()) return why;
    }
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace krux
