#include "core/facts/outgoing.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "core/definition/forms.hpp"
#include "core/facts/secret_forms.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kLeastBase64 = 12;

bool is_of_base64(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '/' ||
         c == '-' || c == '_';
}

bool is_text(std::string_view bytes) {
  return !bytes.empty() && is_valid_utf8(bytes) && std::all_of(bytes.begin(), bytes.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 ? byte != 0x7f : c == '\n' || c == '\r' || c == '\t';
  });
}

/// What a run of Base64 (of either alphabet, padded or not) stands for; empty where it is no text.
std::string decoded(std::string_view run) {
  std::string plain(run);
  std::replace(plain.begin(), plain.end(), '-', '+');
  std::replace(plain.begin(), plain.end(), '_', '/');
  if (plain.size() % 4 == 1) plain.pop_back();
  std::string bytes(plain.size(), '\0');
  std::size_t size = 0;
  const int failed =
      sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), plain.data(), plain.size(),
                        nullptr, &size, nullptr, sodium_base64_VARIANT_ORIGINAL_NO_PADDING);
  bytes.resize(failed != 0 ? 0 : size);
  return is_text(bytes) ? bytes : std::string();
}

std::string decoded_parts(std::string_view text) {
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_of_base64(text[at])) {
      ++at;
      continue;
    }
    auto end = at;
    while (end < text.size() && is_of_base64(text[end])) ++end;
    if (end - at >= kLeastBase64) {
      if (const auto plain = decoded(text.substr(at, end - at)); !plain.empty()) all += '\n' + plain;
    }
    at = end;
  }
  return all;
}

/// Whether programs begin a new line there: "<p", "</td", "<br".
bool is_block(std::string_view tag) {
  static constexpr std::array<std::string_view, 16> kBlocks{
      "p", "div", "br", "tr", "td", "th", "li", "ul", "ol", "h1", "h2", "h3", "hr", "table", "blockquote", "pre"};
  tag.remove_prefix(std::min<std::size_t>(tag.size(), tag.starts_with("</") ? 2 : 1));
  std::string name;
  for (const char c : tag) {
    const bool of_name = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!of_name) break;
    name += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return std::find(kBlocks.begin(), kBlocks.end(), name) != kBlocks.end();
}

struct Entity {
  std::string_view name, is;
};
/// Those of which addresses, links and words are made, and those that nobody sees.
constexpr std::array<Entity, 20> kEntities{
    {{"colon", ":"},  {"sol", "/"},    {"bsol", "\\"}, {"period", "."}, {"commat", "@"}, {"num", "#"}, {"quest", "?"},
     {"percnt", "%"}, {"hyphen", "-"}, {"nbsp", " "},  {"amp", "&"},    {"lt", "<"},     {"gt", ">"},  {"quot", "\""},
     {"apos", "'"},   {"shy", ""},     {"zwnj", ""},   {"zwj", ""},     {"lrm", ""},     {"rlm", ""}}};
constexpr std::size_t kLongestEntity = 12;

/// What an HTML character reference stands for, as it stands between "&" and ";"; nothing: it is none that is read.
std::optional<std::string> referred(std::string_view name) {
  if (!name.starts_with('#')) {
    const auto at = std::find_if(kEntities.begin(), kEntities.end(), [&](const Entity& e) { return e.name == name; });
    return at == kEntities.end() ? std::nullopt : std::optional(std::string(at->is));
  }
  name.remove_prefix(1);
  const bool hex = name.starts_with('x') || name.starts_with('X');
  if (hex) name.remove_prefix(1);
  unsigned code = 0;
  const auto result = std::from_chars(name.data(), name.data() + name.size(), code, hex ? 16 : 10);
  const bool whole = !name.empty() && result.ec == std::errc() && result.ptr == name.data() + name.size();
  if (!whole || code < 0x20 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return std::nullopt;
  std::string character;
  append_utf8(character, code);
  return character;
}

/// Where the next such end is, looked for once: many beginnings may have no end, or the same.
class NextEnd {
 public:
  NextEnd(std::string_view text, std::string_view end) : text_(text), end_(end) {}
  /// Behind it, from a place on that does not go back; npos: there is none.
  std::size_t behind(std::size_t from) {
    if (at_ != std::string_view::npos && (!looked_ || at_ < from)) at_ = text_.find(end_, from);
    looked_ = true;
    return at_ == std::string_view::npos ? at_ : at_ + end_.size();
  }

 private:
  const std::string_view text_, end_;
  std::size_t at_ = 0;
  bool looked_ = false;
};

/// The text with such references as programs show them; empty where nothing changes by it. Unless `with_tags`, without
/// tags and comments: what stands on both sides of one is shown together, "of<b></b>fer" is one word.
std::string as_shown(std::string_view text, bool with_tags) {
  NextEnd tags(text, ">"), comments(text, "-->");
  std::string out;
  bool any = false;
  for (std::size_t at = 0; at < text.size();) {
    const bool opens =
        !with_tags && text[at] == '<' && at + 1 < text.size() &&
        (text[at + 1] == '/' || text[at + 1] == '!' || ((text[at + 1] | 0x20) >= 'a' && (text[at + 1] | 0x20) <= 'z'));
    const bool is_comment = opens && text.substr(at).starts_with("<!--");
    const auto behind = !opens ? std::string_view::npos : is_comment ? comments.behind(at) : tags.behind(at);
    if (behind != std::string_view::npos) {
      any = true;
      if (is_block(text.substr(at, behind - at))) out += ' ';
      at = behind;
      continue;
    }
    const auto semicolon = text[at] == '&' ? text.substr(at, kLongestEntity).find(';') : std::string_view::npos;
    const auto is = semicolon == std::string_view::npos ? std::nullopt : referred(text.substr(at + 1, semicolon - 1));
    any = any || is;
    if (is) {
      out += *is;
      at += semicolon + 1;
    } else {
      out += text[at++];
    }
  }
  return any ? undisguised(out) : std::string();
}

/// What stands beside addresses: names, in which anything can be written.
std::string beside_addresses(std::string_view text) {
  std::string names, word;
  const auto end_word = [&] {
    if (word.find('@') == std::string::npos && !word.empty()) names += word + ' ';
    word.clear();
  };
  for (const char c : text) {
    if (c == '<' || c == '>' || c == ',' || c == ' ') {
      end_word();
    } else {
      word += c;
    }
  }
  end_word();
  return names;
}

class Texts {
 public:
  explicit Texts(Outgoing& out) : out_(out) {}

  /// Of those whom it reaches.
  void add_names(const JsonValue& value) {
    if (value.IsString()) {
      const auto names = beside_addresses(view(value));
      return names.empty() ? void() : add(names);
    }
    if (!value.IsArray()) return;
    for (const auto& entry : value.GetArray()) add_names(entry);
  }

  void add(const JsonValue& value) {
    if (value.IsString()) return add(view(value));
    if (value.IsArray()) {
      for (const auto& entry : value.GetArray()) add(entry);
    } else if (value.IsObject()) {
      for (const auto& member : value.GetObject()) add(member.value);
    }
  }

 private:
  void add(std::string_view text) { add_text(out_, text); }

  Outgoing& out_;
};

bool is_reached_by(const CapabilityDefinition& capability, std::string_view name) {
  const auto& reached = capability.recipients;
  return std::find(reached.begin(), reached.end(), name) != reached.end();
}

/// Whether it names what the write is about, or whose order it keeps.
bool is_about(const CapabilityDefinition& capability, std::string_view name) {
  bool is = false;
  for (const auto& form : {capability.target, capability.order})
    filled(form, [&](std::string_view in_form) {
      is = is || in_form == name;
      return std::string_view();
    });
  return is;
}

}  // namespace

Outgoing parameter_texts(const CapabilityDefinition& capability, const JsonValue& params) {
  Outgoing out;
  Texts texts(out);
  // Ids stand first: behind a subject of "Your security code" the digits of one would be taken for the code.
  for (const bool ids : {true, false}) {
    for (const auto& member : params.GetObject()) {
      const auto name = view(member.name);
      if (is_about(capability, name) != ids) continue;
      if (!is_reached_by(capability, name) || capability.recipients_are_texts) {
        texts.add(member.value);
      } else {
        texts.add_names(member.value);
      }
    }
  }
  return out;
}

Outgoing outgoing_texts(const CapabilityDefinition& capability, const JsonValue& params) {
  auto out = parameter_texts(capability, params);
  add_hidden(out);
  return out;
}

void add_text(Outgoing& out, std::string_view text) {
  const auto room = kMostOutgoing - std::min(kMostOutgoing, out.text.size());
  const auto plain = undisguised(text.substr(0, room));
  out.cut = out.cut || text.size() > room || plain.size() > room;
  out.text += std::string_view(plain).substr(0, room);
  out.text += '\n';
}

void add_hidden(Outgoing& out) {
  auto hidden = decoded_parts(out.text);
  for (const bool with_tags : {true, false}) {
    if (const auto shown = as_shown(out.text, with_tags); !shown.empty()) hidden += '\n' + shown;
  }
  out.text += hidden;
}

std::string secret_in(std::string_view text) {
  for (const auto find : {key_in, password_in, reset_link_in}) {
    if (auto found = find(text); !found.empty()) return found;
  }
  return {};
}

}  // namespace krux
