// The style sheets of a mail, as far as they say what is hidden: selectors of elements, classes and ids, one within
// another. What else a selector asks for cannot be answered here, and such a rule says nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "css_values.hpp"

namespace gmail {

/// What selectors look at.
struct CssSubject {
  std::string_view element{};
  std::vector<std::string> classes{};
  std::string id{};
};

/// "#offer.hidden", which must fit one element.
struct CssCompound {
  std::string element{};  ///< empty: any
  std::vector<std::string> classes{};
  std::string id{};
  bool within_parent = false;  ///< what stands before it is its parent (">"), not any element around it

  bool fits(const CssSubject& subject) const;
};

class CssRules {
 public:
  /// Of a `<style>`, whose `media` may be empty. Media are those of a computer's screen.
  void add(std::string_view sheet, std::string_view media);
  bool empty() const { return rules_.empty(); }

  /// Says what the rules say of an element. `around(i)`: the element i levels out, 0 its parent, null where there is
  /// none. False where that takes longer than all of a mail may.
  using Around = std::function<const CssSubject*(std::size_t)>;
  bool say(const CssSubject& subject, const Around& around, CssCascade& cascade);

 private:
  struct Rule {
    std::vector<CssCompound> compounds;  ///< outermost first
    std::shared_ptr<const std::vector<CssDeclaration>> declarations;
    std::uint32_t weight;
  };
  void read(std::string_view text, int depth);
  void add_rule(std::string_view selectors, std::string_view body);
  bool fits(const Rule& rule, const CssSubject& subject, const Around& around);
  bool fits(const CssCompound& wanted, const CssSubject& subject);

  std::vector<Rule> rules_;
  std::multimap<std::string, std::size_t, std::less<>> by_key_;  ///< by "#id", ".class" or the element of the innermost
  std::size_t steps_ = 0;
};

}  // namespace gmail
