#include "emulators/gmail/fields.hpp"

#include <cctype>

namespace krux::test::gmail {
namespace {

constexpr int kMaxDepth = 20;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  bool list(FieldMask& into, int depth) {
    do {
      if (!item(into, depth)) return false;
    } while (take(','));
    return true;
  }
  bool at_end() const { return at_ == text_.size(); }

 private:
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool item(FieldMask& into, int depth) {
    const std::size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    if (at_ == start && !take('*')) return false;
    const bool seen = into.children.count(std::string(text_.substr(start, at_ - start))) != 0;
    FieldMask& child = into.children[std::string(text_.substr(start, at_ - start))];
    const bool was_whole = seen && child.children.empty();
    bool fits = true;
    if (take('/'))
      fits = depth < kMaxDepth && item(child, depth + 1);
    else if (take('('))
      fits = depth < kMaxDepth && list(child, depth + 1) && take(')');
    else
      child.children.clear();
    if (was_whole) child.children.clear();
    return fits;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<FieldMask> parse_fields(std::string_view text) {
  FieldMask mask;
  Parser parser(text);
  if (!parser.list(mask, 0) || !parser.at_end()) return std::nullopt;
  return mask;
}

void keep_fields(rapidjson::Value& value, const FieldMask& mask) {
  if (mask.children.empty()) return;
  if (value.IsArray()) {
    for (auto& item : value.GetArray()) keep_fields(item, mask);
    return;
  }
  if (!value.IsObject()) return;
  const auto any = mask.children.find("*");
  for (auto member = value.MemberBegin(); member != value.MemberEnd();) {
    auto wanted = mask.children.find(member->name.GetString());
    if (wanted == mask.children.end()) wanted = any;
    if (wanted == mask.children.end()) {
      member = value.EraseMember(member);
      continue;
    }
    keep_fields(member->value, wanted->second);
    // An object of which nothing was asked for is not shown.
    const bool emptied = !wanted->second.children.empty() && member->value.IsObject() && member->value.ObjectEmpty();
    member = emptied ? value.EraseMember(member) : member + 1;
  }
}

}  // namespace krux::test::gmail
