// HTML as the tags and texts that browsers see in it, whatever bytes it is made of (WHATWG's rules for tokens).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gmail {

struct HtmlAttribute {
  std::string_view name{};   ///< as it is written
  std::string_view value{};  ///< with its character references
};

struct HtmlToken {
  enum class Kind { kText, kStart, kEnd, kNothingMore };
  Kind kind = Kind::kNothingMore;
  std::string name{};                       ///< of a tag, in lower case; the first 30 bytes
  std::vector<HtmlAttribute> attributes{};  ///< those that say how a text looks or where a link leads
  bool closes_itself = false;               ///< `<svg/>`
  std::string_view text{};
  bool has_references = true;  ///< of a text: whether "&amp;" stands for "&" in it

  /// Decoded; empty where there is none of that name (in lower case). `has` tells the two apart.
  std::string attribute(std::string_view wanted, std::size_t most_bytes = std::string_view::npos) const;
  bool has(std::string_view wanted) const;
};

class HtmlTokens {
 public:
  explicit HtmlTokens(std::string_view html) : html_(html) {}

  /// Comments and declarations are passed over. `within_foreign`: SVG and MathML have sections of plain text.
  HtmlToken next(bool within_foreign);

  /// The text up to the end tag of that name, which comes next: of elements whose text is no HTML, once their start tag
  /// has come. Of "plaintext" it has no end.
  std::string_view raw_text(std::string_view name);

 private:
  bool starts_markup() const;
  void skip_comment();
  void skip_behind(char end, std::size_t from);
  HtmlToken tag();
  void attribute(HtmlToken& token);
  std::string_view attribute_value();
  std::size_t script_end() const;
  bool ends_here(std::size_t at, std::string_view name) const;

  const std::string_view html_;
  std::size_t at_ = 0;
};

bool is_html_blank(char c);
/// Around it.
std::string_view without_blanks(std::string_view text);

}  // namespace gmail
