#include "emulators/oauth/pages.hpp"

#include <fmt/format.h>

#include "core/util/html.hpp"
#include "emulators/oauth/words.hpp"

namespace krux::test::oauth {
namespace {

emulator::HttpAnswer html(int status, const std::string& title, const std::string& body) {
  emulator::HttpAnswer answer;
  answer.status = status;
  answer.content_type = "text/html; charset=utf-8";
  answer.headers.emplace_back("Cache-Control", "no-store");
  answer.body = fmt::format(
      "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>{0}</title></head><body>\n<h1>{0}</h1>\n{1}</body>"
      "</html>\n",
      escape_html(title), body);
  return answer;
}

std::string input(const char* type, const std::string& name, const std::string& value, bool checked) {
  return fmt::format("<input type=\"{}\" name=\"{}\" value=\"{}\"{}>", type, escape_html(name), escape_html(value),
                     checked ? " checked" : "");
}

std::string choices(const ConsentPage& page) {
  std::string text;
  for (const Person& person : page.people) {
    const std::string team = person.team.empty() ? "" : " (" + person.team + ")";
    text += "<p><label>" + input("radio", "account", person.id, person.id == page.chosen) +
            escape_html((person.name.empty() ? person.id : person.name) + team) + "</label></p>\n";
  }
  return text;
}

std::string boxes(const ConsentPage& page) {
  std::string text;
  for (std::size_t i = 0; i < page.scopes.size(); ++i) {
    const char* type = page.granular ? "checkbox" : "hidden";
    text += "<p><label>" + input(type, box_name(i), page.scopes[i], page.granular) + escape_html(page.scopes[i]) +
            "</label></p>\n";
  }
  return text;
}

}  // namespace

std::string box_name(std::size_t index) {
  return fmt::format("granted_{}", index);
}

emulator::HttpAnswer consent_page(const ConsentPage& page) {
  std::string form = fmt::format("<form method=\"post\" action=\"{}\">\n", escape_html(page.action));
  for (const auto& [name, value] : page.hidden) form += input("hidden", name, value, false) + "\n";
  form += choices(page) + "<p>This will be allowed:</p>\n" + boxes(page);
  form += "<button type=\"submit\" name=\"decision\" value=\"allow\">Allow</button>\n";
  form += "<button type=\"submit\" name=\"decision\" value=\"deny\">Deny</button>\n</form>\n";
  return html(200, fmt::format("{} wants to use your account at {}", page.client, page.provider), form);
}

emulator::HttpAnswer problem_page(const std::string& error, const std::string& sentence) {
  return html(400, "Error 400: " + error, "<p>" + escape_html(sentence) + "</p>\n");
}

emulator::HttpAnswer redirect_to(const std::string& address) {
  emulator::HttpAnswer answer;
  answer.status = 302;
  answer.content_type = "";
  answer.headers.emplace_back("Location", address);
  return answer;
}

}  // namespace krux::test::oauth
