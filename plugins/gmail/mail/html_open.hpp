// The elements that are open at a place of a mail's HTML, as browsers have them: what ends what, and how a text there
// looks. Nothing of it recurses, and each step's time is bounded, or paid for by what was opened.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "css_rules.hpp"
#include "html_elements.hpp"
#include "html_look.hpp"
#include "html_tokens.hpp"

namespace gmail {

class HtmlOpen {
 public:
  /// `rules` must outlive it.
  explicit HtmlOpen(CssRules& rules) : rules_(rules) {}

  /// False for a tag that browsers pass over. What holds no elements (kVoid, kRaw) is not open afterwards.
  bool start(const HtmlToken& tag);
  void end(std::string_view name);
  /// Before a text that is not blank, and before what is shown without one.
  void reopen_formatting();

  bool within_foreign() const;
  /// Of a text that comes now. One in a table, but in no cell, goes before the table.
  const HtmlLook& look() const;
  /// Of the element that came last and is not open: an image, or a text that is no HTML.
  const HtmlLook& void_look() const { return void_look_; }
  bool is_open(std::string_view name) const { return top_of(name) != kNone; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Element {
    std::uint16_t name;
    bool is_foreign, is_gone;      ///< gone: ended while others within it go on
    std::uint32_t traits, around;  ///< the place of the element around it
    std::uint32_t html_below;      ///< of the next one that is not foreign, itself included
    HtmlStyle style;
    HtmlLook look;
    CssSubject subject;
  };
  /// An element of formatting that has no end yet, or a marker: what is before that does not go on here.
  struct Formatting {
    std::uint16_t name;
    std::uint32_t traits, at;  ///< where it is open, or kNone
    bool is_marker;
    HtmlStyle style;
    CssSubject subject;
  };
  struct New {
    std::uint16_t name;
    std::uint32_t traits;
    HtmlStyle style{};
    CssSubject subject{};
  };

  std::uint16_t id_of(std::string_view name);
  std::uint32_t top_of(std::string_view name) const;
  std::uint32_t current() const { return static_cast<std::uint32_t>(open_.size()) - 1; }
  std::uint32_t place(std::uint32_t traits = 0) const;
  bool holds_rows() const;
  bool is_in_scope(std::uint32_t at, std::uint32_t bound = kNone) const;
  std::uint32_t table_part(std::string_view name) const;
  std::uint32_t highest_of(std::uint32_t least, std::initializer_list<std::string_view> names) const;

  std::uint32_t push(New made, bool is_foreign);
  void pop();
  void pop_above(std::uint32_t at);
  void pop_until(std::uint32_t at);
  void take_away(std::uint32_t at);
  void look_again_from(std::uint32_t at);
  void note_formatting(const New& made, std::uint32_t at);
  std::size_t last_formatting(std::string_view name) const;

  bool make_room(const HtmlToken& tag, std::uint32_t traits);
  bool make_room_in_table(const std::string& name);
  void close_others(const std::string& name, std::uint32_t traits);
  void close_p();
  bool start_foreign(const HtmlToken& tag, std::uint32_t traits);
  void end_formatting(std::string_view name);
  void end_other(std::string_view name);
  void end_in_scope(std::uint32_t at, std::uint32_t bound = kNone);
  New styled(const HtmlToken& tag, std::uint32_t traits);

  CssRules& rules_;
  std::vector<Element> open_;
  std::vector<Formatting> formatting_;
  std::map<std::string, std::uint16_t, std::less<>> names_;
  std::vector<std::vector<std::uint32_t>> by_name_;  ///< where elements of a name are open
  /// Where such elements are open. A barrier: a special element but address, div and p.
  std::vector<std::uint32_t> specials_, barriers_, scopes_, headings_;
  HtmlLook void_look_;
  const HtmlLook page_;
  std::size_t looked_again_ = 0, too_deep_ = 0;
};

}  // namespace gmail
