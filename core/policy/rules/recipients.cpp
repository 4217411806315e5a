#include "core/policy/rules/recipients.hpp"

#include <algorithm>

#include "core/util/text.hpp"

namespace krux {
namespace {

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_host_name(std::string_view text) {
  if (text.empty() || text.size() > 253 || text.find('.') == std::string_view::npos) return false;
  for (std::size_t at = 0; at <= text.size();) {
    const auto dot = std::min(text.find('.', at), text.size());
    const auto label = text.substr(at, dot - at);
    const auto allowed = [](char c) { return is_letter_or_digit(c) || c == '-'; };
    if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-' ||
        !std::all_of(label.begin(), label.end(), allowed))
      return false;
    at = dot + 1;
  }
  return true;
}

/// "amy@example.com", or empty where it is no such address.
std::string_view plain_address(std::string_view address) {
  const auto at = address.find('@');
  if (at == std::string_view::npos || at == 0) return {};
  const auto local = address.substr(0, at);
  const auto allowed = [](char c) {
    return is_letter_or_digit(c) || std::string_view(".!#$%&'*+/=?^_`{|}~-").find(c) != std::string_view::npos;
  };
  if (!std::all_of(local.begin(), local.end(), allowed)) return {};
  return is_host_name(address.substr(at + 1)) ? address : std::string_view();
}

/// Of "Amy <amy@example.com>" too. What is in quotes was skipped by whoever has found where it ends.
std::string_view address_of_mailbox(std::string_view mailbox, std::size_t open) {
  mailbox = trimmed(mailbox);
  if (open == std::string_view::npos) return plain_address(mailbox);
  if (!mailbox.ends_with('>')) return {};
  const auto inner = mailbox.substr(mailbox.rfind('<') + 1);
  return plain_address(inner.substr(0, inner.size() - 1));
}

/// Mailboxes separated by commas. In quotes and between < and > a comma separates nothing.
void add_mailboxes(std::string_view text, std::vector<std::string_view>& addresses) {
  bool quoted = false, angled = false, odd = false;
  std::size_t from = 0, open = std::string_view::npos;
  const auto before = addresses.size();
  const auto end_one = [&](std::size_t to) {
    const auto mailbox = text.substr(from, to - from);
    if (!trimmed(mailbox).empty())
      addresses.push_back(odd || quoted || angled ? std::string_view() : address_of_mailbox(mailbox, open));
    from = to + 1;
    open = std::string_view::npos;
    odd = false;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
      odd = odd || angled || open != std::string_view::npos;
    } else if (c == '<') {
      odd = odd || open != std::string_view::npos;
      open = i;
      angled = true;
    } else if (c == '>') {
      odd = odd || !angled;
      angled = false;
    } else if (c == ',' && !angled) {
      end_one(i);
    } else {
      // Comments, groups and escapes are read in more than one way.
      odd = odd || std::string_view("();:\\").find(c) != std::string_view::npos || static_cast<unsigned char>(c) < 0x20;
    }
  }
  end_one(text.size());
  if (addresses.size() == before && !trimmed(text).empty()) addresses.emplace_back();
}

void add_value(const JsonValue& value, std::vector<std::string_view>& addresses) {
  if (value.IsNull()) return;
  if (value.IsString()) return add_mailboxes(view(value), addresses);
  if (!value.IsArray()) return addresses.emplace_back(), void();
  for (const auto& entry : value.GetArray()) {
    if (entry.IsString()) {
      add_mailboxes(view(entry), addresses);
    } else {
      addresses.emplace_back();
    }
  }
}

}  // namespace

std::vector<std::string_view> recipient_addresses(const CapabilityDefinition& capability, const JsonValue& params) {
  std::vector<std::string_view> addresses;
  for (const auto& name : capability.recipients) {
    const auto* value = find_member(params, name);
    if (!value) continue;
    if (!capability.recipients_are_texts) {
      add_value(*value, addresses);
    } else if (!value->IsNull()) {
      addresses.emplace_back();
    }
  }
  return addresses;
}

std::vector<std::string_view> recipient_domains(const CapabilityDefinition& capability, const JsonValue& params) {
  auto all = recipient_addresses(capability, params);
  for (auto& one : all) one = domain_of(one);
  return all;
}

std::string_view domain_of(std::string_view address) {
  return address.substr(address.empty() ? 0 : address.find('@') + 1);
}

bool is_inside(std::string_view domain, const std::vector<std::string>& set) {
  return std::any_of(set.begin(), set.end(), [&](const std::string& one) {
    if (!one.starts_with("*.")) return domain.size() == one.size() && equal_ignoring_case(domain, one);
    const auto below = std::string_view(one).substr(1);
    return domain.size() > below.size() && equal_ignoring_case(domain.substr(domain.size() - below.size()), below);
  });
}

bool is_domain(std::string_view text, bool wildcard) {
  if (wildcard && text.starts_with("*.")) text.remove_prefix(2);
  return is_host_name(text) && std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace krux
