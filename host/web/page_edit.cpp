// Editing a write in a form.
#include <fmt/format.h>

#include "core/util/error.hpp"
#include "core/util/html.hpp"
#include "core/util/json_parts.hpp"
#include "core/util/text.hpp"
#include "host/web/page_text.hpp"
#include "host/web/page_write.hpp"

namespace krux::web {
namespace {

/// A form sends three bytes for one, and a hundred fields at most.
constexpr std::size_t kMostBytes = 64 * 1024;
constexpr rapidjson::SizeType kMostFields = 60;

/// As a form sends it back: browsers send each end of a line as CR LF.
std::string with_line_feeds(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    out += text[i] == '\r' ? '\n' : text[i];
  }
  return out;
}

std::string field_name(std::string_view parameter) {
  return std::string("p.").append(parameter);
}

}  // namespace

bool can_be_edited(const JsonValue& write) {
  const auto state = text(write, "state");
  const auto& params = part(write, "params");
  const bool is_open = state == "pending_approval" || state == "buffered" || state == "held";
  return is_open && number(write, "attempts") == 0 && text(write, "rolls_back").empty() &&
         text(write, "cleans").empty() && params.MemberCount() > 0 && params.MemberCount() <= kMostFields &&
         to_json(params).size() <= kMostBytes;
}

std::string edit_form(const JsonValue& write, const PagePlace& place, bool cut) {
  if (!can_be_edited(write)) return {};
  std::string fields;
  int n = 0;
  for (const auto& parameter : part(write, "params").GetObject()) {
    const auto words = in_words(parameter.value);
    ++n;
    // The first line feed behind the tag is none of the text.
    fields += fmt::format(
        "<label for=\"p{0}\">{1}{2}</label><textarea id=\"p{0}\" name=\"{3}\" rows=\"{4}\" dir=\"auto\" spellcheck="
        "\"false\">\n{5}</textarea>",
        n, shown(view(parameter.name), 100), parameter.value.IsString() ? "" : " (JSON)",
        escape_html(field_name(view(parameter.name))), words.size() > 120 ? 8 : 2, escape_html(words));
  }
  const bool asked = text(write, "state") == "pending_approval" && !cut;
  return "<details id=\"edit\"><summary>Edit</summary>" +
         place.form(place.write(text(write, "write_id"), "edit"), "edit") +
         fmt::format(
             "<input type=\"hidden\" name=\"content_hash\" value=\"{}\"><input type=\"hidden\" name=\"state\" "
             "value=\"{}\">{}",
             shown(text(write, "content_hash"), 100), shown(text(write, "state"), 40), fields) +
         (asked ? "<button type=\"submit\" name=\"then\" value=\"accept\" class=\"good\">Save and accept</button>"
                : "") +
         "<button type=\"submit\" name=\"then\" value=\"keep\" class=\"quiet\">Save</button></form></details>";
}

std::string changes_of(const JsonValue& write, const FormValues& form) {
  std::string out;
  for (const auto& parameter : part(write, "params").GetObject()) {
    const auto name = std::string(view(parameter.name));
    const auto given = with_line_feeds(form.get(field_name(name)));
    if (given == with_line_feeds(in_words(parameter.value))) continue;
    if (!parameter.value.IsString()) {
      try {
        parse_json(given, name);
      } catch (const Error&) {
        throw invalid_input(fmt::format("{} must be JSON, as it was: {}. Nothing was changed.", printable(name),
                                        printable(to_json(parameter.value).substr(0, 100))));
      }
    }
    out +=
        (out.empty() ? "" : ",") + json_string(name) + ":" + (parameter.value.IsString() ? json_string(given) : given);
  }
  return "{" + out + "}";
}

}  // namespace krux::web
