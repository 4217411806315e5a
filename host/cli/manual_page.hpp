// A manual page for man(1), made of pieces and of the Markdown that our documents use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace krux::cli {

class ManualPage {
 public:
  /// `does`: one line, for lists of pages.
  ManualPage(const std::string& name, const std::string& section, const std::string& does);

  void section(const std::string& title);
  void part(const std::string& title);
  void paragraph(std::string_view markdown);
  void item(const std::string& term, std::string_view markdown);
  void verbatim(const std::vector<std::string>& lines);
  /// Headings, paragraphs, tables of two columns, blocks of code; a first heading of the whole is left out.
  void markdown(std::string_view text);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace krux::cli
