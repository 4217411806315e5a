#include "emulators/gmail/query.hpp"

#include <time.h>

#include <cctype>

#include "emulators/common/text.hpp"
#include "emulators/gmail/address.hpp"

namespace krux::test::gmail {

using emulator::lower;

struct Query::Node {
  enum class Kind { all_of, any_of, none_of, term };
  Kind kind = Kind::all_of;
  std::vector<Node> children;
  std::string op, value;      // of a term; op empty: words
  std::int64_t bound_ms = 0;  // of before, after, older_than, newer_than
};

namespace {

using Node = Query::Node;

const char* const kOperators[] = {"from",    "to",          "cc",         "bcc",        "subject", "label",
                                  "in",      "is",          "has",        "filename",   "after",   "before",
                                  "older",   "newer",       "older_than", "newer_than", "size",    "larger",
                                  "smaller", "rfc822msgid", "category"};

bool is_operator(const std::string& name) {
  return std::find(std::begin(kOperators), std::end(kOperators), name) != std::end(kOperators);
}

// Letters and digits hang together; bytes of other scripts do too.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || byte >= 0x80 || c == '_') {
      word += static_cast<char>(std::tolower(byte));
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

// Whether the words of `wanted` stand in `text`, whole, one behind the other.
bool has_phrase(const std::string& text, const std::string& wanted) {
  const std::vector<std::string> words = words_of(text), phrase = words_of(wanted);
  if (phrase.empty()) return false;
  return std::search(words.begin(), words.end(), phrase.begin(), phrase.end()) != words.end();
}

std::int64_t parse_day(const std::string& text) {
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) {
    return std::strtoll(text.c_str(), nullptr, 10) * 1000;
  }
  tm parts{};
  const char* formats[] = {"%Y/%m/%d", "%Y-%m-%d", "%m/%d/%Y"};
  for (const char* format : formats) {
    parts = tm{};
    const char* rest = strptime(text.c_str(), format, &parts);
    if (rest && *rest == '\0') return static_cast<std::int64_t>(timegm(&parts)) * 1000;
  }
  return -1;
}

// "3d", "2m", "1y", "5h" in milliseconds; -1: it is none.
std::int64_t parse_span(const std::string& text) {
  if (text.size() < 2) return -1;
  const std::int64_t count = std::strtoll(text.c_str(), nullptr, 10), day = 86400000;
  switch (text.back()) {
    case 'h':
      return count * day / 24;
    case 'd':
      return count * day;
    case 'm':
      return count * 30 * day;
    case 'y':
      return count * 365 * day;
    default:
      return -1;
  }
}

std::int64_t parse_size(const std::string& text) {
  const std::int64_t count = std::strtoll(text.c_str(), nullptr, 10);
  const char unit = text.empty() ? '0' : static_cast<char>(std::tolower(static_cast<unsigned char>(text.back())));
  return unit == 'k' ? count << 10 : unit == 'm' ? count << 20 : count;
}

class Parser {
 public:
  Parser(std::string_view text, std::int64_t now_ms) : text_(text), now_ms_(now_ms) {}

  Node all(char closing, int depth) {
    Node node;
    skip_space();
    while (at_ < text_.size() && text_[at_] != closing) {
      node.children.push_back(either(closing, depth));
      skip_space();
    }
    if (at_ < text_.size()) ++at_;
    return node;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  bool take_or() {
    skip_space();
    const std::string_view rest = text_.substr(at_);
    if (rest.substr(0, 2) != "OR" || (rest.size() > 2 && rest[2] != ' ' && rest[2] != '(' && rest[2] != '{'))
      return false;
    at_ += 2;
    skip_space();
    return true;
  }

  // "a OR b" holds together more closely than "a b".
  Node either(char closing, int depth) {
    Node first = one(depth);
    if (!take_or()) return first;
    Node any;
    any.kind = Node::Kind::any_of;
    any.children.push_back(std::move(first));
    do {
      if (at_ < text_.size() && text_[at_] != closing) any.children.push_back(one(depth));
    } while (take_or());
    return any;
  }

  Node one(int depth) {
    if (text_[at_] == '-' && at_ + 1 < text_.size() && depth < 50) {
      ++at_;
      Node none;
      none.kind = Node::Kind::none_of;
      none.children.push_back(one(depth + 1));
      return none;
    }
    if (text_[at_] == '(' && depth < 50) {
      ++at_;
      return all(')', depth + 1);
    }
    if (text_[at_] == '{' && depth < 50) {
      ++at_;
      Node any = all('}', depth + 1);
      any.kind = Node::Kind::any_of;
      return any;
    }
    return term(depth);
  }

  Node term(int depth) {
    const std::size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    const std::string name = lower(std::string(text_.substr(start, at_ - start)));
    Node node;
    node.kind = Node::Kind::term;
    if (at_ < text_.size() && text_[at_] == ':' && is_operator(name)) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '(' || text_[at_] == '{') && depth < 50) return group(name, depth);
      node.op = name;
    } else {
      at_ = start;
    }
    node.value = value();
    finish(node);
    return node;
  }

  // "from:(a b)" is from:a from:b, "from:{a b}" either.
  Node group(const std::string& name, int depth) {
    const bool any = text_[at_++] == '{';
    Node node = all(any ? '}' : ')', depth + 1);
    if (any) node.kind = Node::Kind::any_of;
    apply(node, name);
    return node;
  }

  void apply(Node& node, const std::string& name) {
    if (node.kind == Node::Kind::term && node.op.empty()) {
      node.op = name;
      finish(node);
    }
    for (Node& child : node.children) apply(child, name);
  }

  std::string value() {
    std::string taken;
    if (at_ < text_.size() && text_[at_] == '"') {
      const std::size_t end = std::min(text_.find('"', at_ + 1), text_.size());
      taken = std::string(text_.substr(at_ + 1, end - at_ - 1));
      at_ = std::min(end + 1, text_.size());
      return taken;
    }
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) == 0 && text_[at_] != ')' &&
           text_[at_] != '}') {
      taken += text_[at_++];
    }
    if (taken.empty() && at_ < text_.size()) ++at_;  // a bracket that closes nothing
    return taken;
  }

  void finish(Node& node) const {
    if (node.op == "after" || node.op == "newer" || node.op == "before" || node.op == "older") {
      node.bound_ms = parse_day(node.value);
    } else if (node.op == "older_than" || node.op == "newer_than") {
      const std::int64_t span = parse_span(node.value);
      node.bound_ms = span < 0 ? -1 : now_ms_ - span;
    }
  }

  std::string_view text_;
  std::int64_t now_ms_;
  std::size_t at_ = 0;
};

// A label as people write it: without case, and with "-" for what names are split by.
std::string label_word(std::string name) {
  name = lower(std::move(name));
  for (char& c : name) {
    if (c == ' ' || c == '/') c = '-';
  }
  return name;
}

bool has_label(const Mailbox& mailbox, const Message& message, const std::string& wanted) {
  const std::string word = label_word(wanted);
  return std::any_of(message.labels.begin(), message.labels.end(), [&](const std::string& id) {
    const Label* label = mailbox.label(id);
    return label && label_word(label->name) == word;
  });
}

class Matcher {
 public:
  Matcher(const Mailbox& mailbox, const Message& message) : mailbox_(mailbox), message_(message) {}

  bool fits(const Node& node) {
    const auto fits_child = [&](const Node& child) { return fits(child); };
    switch (node.kind) {
      case Node::Kind::all_of:
        return std::all_of(node.children.begin(), node.children.end(), fits_child);
      case Node::Kind::any_of:
        return std::any_of(node.children.begin(), node.children.end(), fits_child);
      case Node::Kind::none_of:
        return std::none_of(node.children.begin(), node.children.end(), fits_child);
      case Node::Kind::term:
        return fits_term(node);
    }
    return false;
  }

 private:
  const Digest& digest() {
    if (!digest_) digest_ = message_.content.digest();
    return *digest_;
  }

  bool fits_term(const Node& node) {
    const std::string& op = node.op;
    if (op == "label" || op == "category") return fits_label(node);
    if (op == "in") return fits_in(lower(node.value));
    if (op == "is") return fits_is(lower(node.value));
    if (op == "after" || op == "newer" || op == "newer_than")
      return node.bound_ms >= 0 && message_.date_ms >= node.bound_ms;
    if (op == "before" || op == "older" || op == "older_than")
      return node.bound_ms >= 0 && message_.date_ms < node.bound_ms;
    if (op == "size" || op == "larger") return size() > parse_size(node.value);
    if (op == "smaller") return size() < parse_size(node.value);
    if (op == "rfc822msgid") return fits_message_id(node.value);
    return fits_content(op, node.value);
  }

  // An address is looked for among addresses: nobody's name is one.
  static bool names(const std::string& people, const std::string& value) {
    if (value.find('@') == std::string::npos) return has_phrase(people, value);
    std::vector<Address> addresses;
    parse_addresses(people, addresses);
    return std::any_of(addresses.begin(), addresses.end(),
                       [&](const Address& address) { return has_phrase(address.mail, value); });
  }

  bool fits_content(const std::string& op, const std::string& value) {
    if (op == "from") return names(digest().from, value);
    // A mail is to whom it was copied to as well.
    if (op == "to") return names(digest().to, value) || names(digest().cc, value) || names(digest().bcc, value);
    if (op == "cc") return names(digest().cc, value);
    if (op == "bcc") return names(digest().bcc, value);
    if (op == "subject") return has_phrase(digest().subject, value);
    if (op == "has") return lower(value) == "attachment" && !digest().filenames.empty();
    if (op == "filename") {
      return std::any_of(digest().filenames.begin(), digest().filenames.end(),
                         [&](const std::string& name) { return has_phrase(name, value); });
    }
    if (words_of(value).empty()) return true;  // punctuation asks for nothing
    return has_phrase(digest().subject, value) || has_phrase(digest().text, value) ||
           has_phrase(digest().from, value) || has_phrase(digest().to, value) || has_phrase(digest().cc, value);
  }

  bool fits_label(const Node& node) {
    if (node.op == "category") return has_label(mailbox_, message_, "category_" + node.value);
    return has_label(mailbox_, message_, node.value);
  }

  bool fits_in(const std::string& place) {
    if (place == "anywhere") return true;
    if (place == "drafts" || place == "draft") return message_.has("DRAFT");
    return has_label(mailbox_, message_, place);
  }

  bool fits_is(const std::string& what) {
    if (what == "read") return !message_.has("UNREAD");
    return has_label(mailbox_, message_, what);
  }

  bool fits_message_id(std::string wanted) {
    const std::string id = message_.content.message_id();
    if (!wanted.empty() && wanted.front() != '<') wanted = "<" + wanted + ">";
    return id == wanted || "<" + id + ">" == wanted;
  }

  std::int64_t size() const { return static_cast<std::int64_t>(message_.content.raw()->size()); }

  const Mailbox& mailbox_;
  const Message& message_;
  std::optional<Digest> digest_;
};

bool names_hidden(const Node& node) {
  const std::string value = lower(node.value);
  if ((node.op == "in" || node.op == "label" || node.op == "is") &&
      (value == "anywhere" || value == "trash" || value == "spam")) {
    return true;
  }
  return node.kind != Node::Kind::none_of && std::any_of(node.children.begin(), node.children.end(), names_hidden);
}

}  // namespace

Query::Query(const std::string& text, std::int64_t now_ms)
    : root_(std::make_unique<Node>(Parser(text, now_ms).all('\0', 0))), names_spam_or_trash_(names_hidden(*root_)) {}
Query::~Query() = default;
Query::Query(Query&&) noexcept = default;

bool Query::matches(const Mailbox& mailbox, const Message& message) const {
  return Matcher(mailbox, message).fits(*root_);
}

}  // namespace krux::test::gmail
