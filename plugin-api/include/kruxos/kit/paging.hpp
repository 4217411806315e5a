// kruxos/kit/paging.hpp - lists that a service gives page by page, whichever way it names the next one.
#pragma once
#include <kruxos/kit/http.hpp>
#include <kruxos/kit/json.hpp>
#include <kruxos/kit/sync.hpp>
#include <kruxos/kit/text.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace kruxos::kit {

/// `url` with that query parameter, in the place of the one it had: ("tasks?page=1&per_page=50", "page", "2").
inline std::string with_parameter(std::string_view url, std::string_view name, std::string_view value) {
  const auto mark = url.find('?');
  std::string out(url.substr(0, mark));
  char before = '?';
  const auto add = [&](std::string_view part) { (out += std::exchange(before, '&')).append(part); };
  for (auto rest = mark == std::string_view::npos ? std::string_view() : url.substr(mark + 1); !rest.empty();) {
    const auto part = rest.substr(0, rest.find('&'));
    rest.remove_prefix(part.size() == rest.size() ? part.size() : part.size() + 1);
    if (!part.empty() && part.substr(0, part.find('=')) != name) add(part);
  }
  add(std::string(name) + '=' + encoded(value));
  return out;
}

/// The value of a query parameter as it stands in `url`, percent-encoded; empty where there is none.
inline std::string_view parameter_of(std::string_view url, std::string_view name) {
  for (auto at = url.find('?'); at != std::string_view::npos; at = url.find('&', at + 1)) {
    const auto rest = url.substr(at + 1);
    if (rest.starts_with(name) && rest.substr(name.size()).starts_with('='))
      return rest.substr(name.size() + 1, rest.find('&') - name.size() - 1);
  }
  return {};
}

/// What an address in an answer means, given the one that was asked: absolute ones and those from "/" on stay as they
/// are. The host decides where a request may go.
inline std::string resolved(std::string_view asked, std::string_view reference) {
  const auto first = reference.find_first_of(":/?");
  const bool has_scheme = first != std::string_view::npos && reference[first] == ':';
  if (has_scheme || reference.starts_with('/')) return std::string(reference);
  const auto path = asked.substr(0, asked.find('?'));
  if (reference.starts_with('?')) return std::string(path).append(reference);
  const auto slash = path.rfind('/');
  return std::string(path.substr(0, slash == std::string_view::npos ? 0 : slash + 1)).append(reference);
}

namespace detail {

/// Whether the parameters of one link (RFC 8288) give it this relation, among others perhaps.
inline bool has_relation(std::string_view parameters, std::string_view relation) {
  for (auto at = parameters.find(';'); at != std::string_view::npos; at = parameters.find(';', at + 1)) {
    auto one = parameters.substr(at + 1);
    while (one.starts_with(' ') || one.starts_with('\t')) one.remove_prefix(1);
    const auto equals = one.find('=');
    if (equals == std::string_view::npos || !same_ascii(one.substr(0, equals), "rel")) continue;
    auto value = one.substr(equals + 1);
    value =
        value.starts_with('"') ? value.substr(1, value.find('"', 1) - 1) : value.substr(0, value.find_first_of("; ,"));
    while (!value.empty()) {
      const auto word = value.substr(0, value.find(' '));
      if (same_ascii(word, relation)) return true;
      value.remove_prefix(word.size() == value.size() ? word.size() : word.size() + 1);
    }
  }
  return false;
}

}  // namespace detail

/// The address that the headers Link give that relation, as the service wrote it; empty where none does.
inline std::string link_of(const HttpResponse& response, std::string_view relation) {
  for (const auto& [name, value] : response.headers) {
    if (!same_ascii(name, "Link")) continue;
    const std::string_view all = value;
    for (auto begin = all.find('<'); begin != std::string_view::npos;) {
      const auto end = all.find('>', begin);
      if (end == std::string_view::npos) break;
      // A link ends where the next one begins: its parameters hold no "<".
      const auto next = all.find('<', end);
      if (detail::has_relation(all.substr(end, next == std::string_view::npos ? next : next - end), relation))
        return std::string(all.substr(begin + 1, end - begin - 1));
      begin = next;
    }
  }
  return {};
}

/// How a service names the next page. The last page of the two that count is the one that is empty: a service may give
/// fewer rows than it was asked for.
class Paging {
 public:
  /// All rows come at once.
  static Paging none() { return Paging(Style::kNone, {}, {}); }
  /// The header Link with rel="next" (RFC 8288).
  static Paging by_link() { return Paging(Style::kLink, {}, {}); }
  /// A text in the answer that goes into the query: by_cursor("next_cursor", "cursor"), by_cursor("meta.next",
  /// "after"). `more`: a flag in the answer without which there is no further page, of a service that always gives a
  /// cursor.
  static Paging by_cursor(std::string member, std::string parameter, std::string more = {}) {
    return Paging(Style::kCursor, std::move(member), std::move(parameter), std::move(more));
  }
  /// A whole address in the answer: by_address("links.next").
  static Paging by_address(std::string member) { return Paging(Style::kAddress, std::move(member), {}); }
  /// How many rows to skip: by_offset("offset"), from 0 on.
  static Paging by_offset(std::string parameter) { return Paging(Style::kOffset, {}, std::move(parameter)); }
  /// The page's number: by_number("page"), from 1 on.
  static Paging by_number(std::string parameter) { return Paging(Style::kNumber, {}, std::move(parameter)); }

  /// Whether a page is a place in the list: what is before it and goes meanwhile moves a row to a page that has been
  /// read.
  bool is_by_place() const noexcept { return style_ == Style::kOffset || style_ == Style::kNumber; }

  /// The address of the page behind the one that was `asked` for, which had so many rows; empty at the end. Throws
  /// kUnavailable where it would be the same page again.
  std::string next(std::string_view asked, const HttpResponse& response, const Json& answer, std::size_t rows) const {
    auto next = next_address(asked, response, answer, rows);
    need_progress(asked, next, "The service names the same page as the next one.");
    return next;
  }

 private:
  enum class Style { kNone, kLink, kCursor, kAddress, kOffset, kNumber };
  Paging(Style style, std::string member, std::string parameter, std::string more = {})
      : style_(style), member_(std::move(member)), parameter_(std::move(parameter)), more_(std::move(more)) {}

  bool goes_on(const Json& answer) const {
    const auto* flag = more_.empty() ? nullptr : member_at(answer, more_);
    return more_.empty() || (flag && flag->IsTrue());
  }

  std::string next_address(std::string_view asked, const HttpResponse& response, const Json& answer,
                           std::size_t rows) const {
    if (style_ == Style::kLink) {
      const auto link = link_of(response, "next");
      return link.empty() ? link : resolved(asked, link);
    }
    if (style_ == Style::kCursor || style_ == Style::kAddress) {
      const auto* found = member_at(answer, member_);
      if (!found || !goes_on(answer)) return {};
      const auto named =
          found->IsString() ? std::string(found->GetString(), found->GetStringLength()) : digits_of(*found);
      if (named.empty()) return {};
      return style_ == Style::kAddress ? resolved(asked, named) : with_parameter(asked, parameter_, named);
    }
    if (style_ == Style::kNone || rows == 0) return {};
    std::int64_t at = style_ == Style::kNumber ? 1 : 0;
    const auto said = parameter_of(asked, parameter_);
    std::from_chars(said.data(), said.data() + said.size(), at);
    at += style_ == Style::kNumber ? 1 : static_cast<std::int64_t>(rows);
    return with_parameter(asked, parameter_, std::to_string(at));
  }

  Style style_;
  std::string member_, parameter_, more_;
};

}  // namespace kruxos::kit
