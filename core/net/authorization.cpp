#include "core/net/authorization.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <utility>

#include "core/net/request_head.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

/// A shorter one could be any word of an answer.
constexpr std::size_t kShortestAlone = 8;

SecretBytes encoded(std::string_view text) {
  constexpr char digits[] = "0123456789ABCDEF";
  SecretBytes out;
  out.reserve(text.size() * 3);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
                       c == '_' || c == '.' || c == '~';
    if (plain) {
      out.push_back(c);
    } else {
      out.insert(out.end(), {'%', digits[byte >> 4], digits[byte & 15]});
    }
  }
  return out;
}

void append_base64(SecretBytes& out, const SecretBytes& bytes) {
  constexpr int variant = sodium_base64_VARIANT_ORIGINAL;
  SecretBytes text(sodium_base64_encoded_len(bytes.size(), variant));
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                    variant);
  text.pop_back();  // the NUL
  append(out, as_view(text));
}

/// What stands behind a header's scheme.
std::string_view credential_in(std::string_view value) {
  return value.substr(value.rfind(' ') + 1);
}

bool names(std::string_view query, std::string_view parameter) {
  while (!query.empty()) {
    const auto end = std::min(query.find_first_of("&;"), query.size());
    const auto pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (equal_ignoring_case(percent_decode(pair.substr(0, pair.find('=')), true), parameter)) return true;
  }
  return false;
}

}  // namespace

RequestSecret Authorization::secret() const {
  RequestSecret secret(as_view(value));
  secret.header = header;
  secret.parameter = parameter;
  return secret;
}

std::optional<Authorization> authorization_of(const AuthDefinition& auth, std::string_view user,
                                              std::string_view token) {
  if (token.empty()) return std::nullopt;
  Authorization made;
  switch (auth.way) {
    case AuthDefinition::Way::kQuery:
      made.parameter = auth.name;
      made.value = encoded(token);
      return made;
    case AuthDefinition::Way::kBasic: {
      if (auth.user.empty() ? token.find(':') == std::string_view::npos : user.empty()) return std::nullopt;
      SecretBytes both;
      both.reserve(user.size() + 1 + token.size());
      if (!auth.user.empty()) {
        append(both, user);
        append(both, ":");
      }
      append(both, token);
      made.header = "Authorization";
      made.value.reserve(8 + 2 * both.size());
      append(made.value, "Basic ");
      append_base64(made.value, both);
      return made;
    }
    case AuthDefinition::Way::kNone:
      return std::nullopt;
    case AuthDefinition::Way::kHeader:
      break;
  }
  made.header = auth.name;
  made.value.reserve(auth.scheme.size() + 1 + token.size());
  if (!auth.scheme.empty()) {
    append(made.value, auth.scheme);
    append(made.value, " ");
  }
  append(made.value, token);
  if (!is_header_value(as_view(made.value))) return std::nullopt;
  return made;
}

std::string why_not_own_credential(const AuthDefinition& auth, const HttpHeaders& headers, const Url& url) {
  if (auth.way == AuthDefinition::Way::kQuery) {
    if (!url.query.empty() && names(std::string_view(url.query).substr(1), auth.name))
      return fmt::format("the query's parameter {} is set by the host alone; leave it out", auth.name);
    return {};
  }
  if (auth.way == AuthDefinition::Way::kHeader && find_header(headers, auth.name))
    return fmt::format("the header {} is set by the host alone; leave it out", auth.name);
  return {};
}

KeyRemovingSink::KeyRemovingSink(HttpSink& receiver, const Authorization& carried, std::string_view token)
    : receiver_(receiver) {
  const auto add = [&](std::initializer_list<std::string_view> parts, std::string_view instead) {
    Needle needle{{}, instead};
    for (const auto part : parts) append(needle.text, part);
    needles_.push_back(std::move(needle));
  };
  const auto& name = carried.parameter;
  for (const auto key : {credential_in(as_view(carried.value)), token}) {
    if (!name.empty()) {
      add({"?", name, "=", key, "&"}, "?");
      for (const auto* before : {"&", "?", ""}) add({before, name, "=", key}, "");
    }
    if (key.size() >= kShortestAlone) add({key}, "[removed]");
  }
  std::stable_sort(needles_.begin(), needles_.end(),
                   [](const Needle& a, const Needle& b) { return a.text.size() > b.text.size(); });
}

bool KeyRemovingSink::head(int status, const HttpHeaders& headers) {
  auto cleaned = headers;
  for (auto& [name, value] : cleaned) {
    held_ = std::move(value);
    value = without_key(true);
  }
  return receiver_.head(status, cleaned);
}

bool KeyRemovingSink::body(std::string_view bytes) {
  held_ += bytes;
  const auto part = without_key(false);
  return part.empty() || receiver_.body(part);
}

bool KeyRemovingSink::finish() {
  const auto rest = without_key(true);
  return rest.empty() || receiver_.body(rest);
}

/// Where a needle may have begun whose rest is still to come. Nothing else waits: an answer's next part may be long in
/// coming.
std::size_t KeyRemovingSink::first_open() const {
  const std::string_view all = held_;
  for (auto at = all.size() - std::min(all.size(), needles_.front().text.size() - 1); at < all.size(); ++at) {
    const auto rest = all.substr(at);
    for (const auto& needle : needles_) {
      if (needle.text.size() > rest.size() && as_view(needle.text).starts_with(rest)) return at;
    }
  }
  return all.size();
}

std::string KeyRemovingSink::without_key(bool at_end) {
  if (needles_.empty()) return std::exchange(held_, {});
  const auto certain = at_end ? held_.size() : first_open();
  std::string out;
  std::size_t from = 0;
  while (true) {
    std::size_t at = std::string::npos;
    const Needle* found = nullptr;
    for (const auto& needle : needles_) {
      const auto place = held_.find(as_view(needle.text), from);
      if (place < at) {  // of several at one place the longest, which comes first
        at = place;
        found = &needle;
      }
    }
    if (!found || at >= certain) {
      const auto end = std::max(from, certain);
      out.append(held_, from, end - from);
      held_.erase(0, end);
      return out;
    }
    out.append(held_, from, at - from);
    out += found->instead;
    from = at + found->text.size();
  }
}

}  // namespace krux
