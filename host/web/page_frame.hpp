// What all pages have in common: head, headers, style and script.
#pragma once

#include <string>
#include <string_view>

#include "host/http/http_types.hpp"

namespace krux::web {

extern const std::string_view kPageCSS, kPageJS;

/// Where a session's pages stand: "/s/<address>/". Empty: nobody has signed in.
struct PagePlace {
  std::string base, token;
  std::string who{};  ///< the operator who has signed in, by name

  std::string list() const { return base; }
  std::string write(std::string_view write_id, std::string_view action = {}) const;
  /// The beginning of a form that posts there, with the session's token.
  std::string form(const std::string& action, std::string_view css_class = {}) const;
};

/// `body`: HTML, what stands in <main>.
ServerResponse page(int status, std::string_view title, std::string_view body, const PagePlace& place);
/// A sentence above a page's content. kDone: something was done; kLook: look again.
enum class NoticeKind { kNone, kDone, kLook };
struct Notice {
  NoticeKind kind = NoticeKind::kNone;
  std::string text;  ///< plain
};
std::string notice_html(const Notice& notice);

ServerResponse go_to(const std::string& location);
ServerResponse file_answer(std::string_view content_type, std::string_view content);

}  // namespace krux::web
