#include "core/facts/outgoing.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <charconv>
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

struct Entity {
  std::string_view name;
  char is;
};
/// Those of which addresses and links can be made.
constexpr std::array<Entity, 9> kEntities{{{"colon", ':'},
                                           {"sol", '/'},
                                           {"bsol", '\\'},
                                           {"period", '.'},
                                           {"commat", '@'},
                                           {"num", '#'},
                                           {"quest", '?'},
                                           {"percnt", '%'},
                                           {"hyphen", '-'}}};
constexpr std::size_t kLongestEntity = 12;

/// The ASCII character of an HTML character reference, as it stands between "&" and ";"; 0: none.
char referred(std::string_view name) {
  if (!name.starts_with('#')) {
    const auto at = std::find_if(kEntities.begin(), kEntities.end(), [&](const Entity& e) { return e.name == name; });
    return at == kEntities.end() ? '\0' : at->is;
  }
  name.remove_prefix(1);
  const bool hex = name.starts_with('x') || name.starts_with('X');
  if (hex) name.remove_prefix(1);
  unsigned code = 0;
  const auto result = std::from_chars(name.data(), name.data() + name.size(), code, hex ? 16 : 10);
  const bool whole = !name.empty() && result.ec == std::errc() && result.ptr == name.data() + name.size();
  return whole && code >= 0x20 && code < 0x7f ? static_cast<char>(code) : '\0';
}

/// The text with such references as programs show it; empty where it has none.
std::string without_references(std::string_view text) {
  std::string out;
  bool any = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text[at] == '&' ? text.substr(at, kLongestEntity).find(';') : std::string_view::npos;
    const char is = end == std::string_view::npos ? '\0' : referred(text.substr(at + 1, end - 1));
    any = any || is != '\0';
    out += is != '\0' ? is : text[at];
    at += is != '\0' ? end + 1 : 1;
  }
  return any ? out : std::string();
}

class Texts {
 public:
  explicit Texts(Outgoing& out) : out_(out) {}

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
      if (is_about(capability, name) == ids && !is_reached_by(capability, name)) texts.add(member.value);
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
  if (const auto shown = without_references(out.text); !shown.empty()) hidden += '\n' + shown;
  out.text += hidden;
}

std::string secret_in(std::string_view text) {
  for (const auto find : {key_in, password_in, reset_link_in}) {
    if (auto found = find(text); !found.empty()) return found;
  }
  return {};
}

}  // namespace krux
