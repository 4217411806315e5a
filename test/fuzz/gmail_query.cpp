#include <kruxos/adapter/error.hpp>

#include "fuzz.hpp"
#include "mail/query.hpp"
#include "mail/utf8.hpp"

namespace {

using krux::fuzz::require;

/// What those who turn the tree into conditions rely on.
std::size_t check(const gmail::Term& term, int depth) {  // NOLINT(misc-no-recursion)
  require(depth <= gmail::kDeepestTerm, "the tree is no deeper than it says");
  require(gmail::is_utf8(term.text) && term.text.find('\0') == std::string::npos, "texts are UTF-8 without NUL");
  using enum gmail::TermKind;
  const bool textual = term.kind >= kText && term.kind <= kMessageId;
  require(textual == !term.text.empty(), "those terms have a text that need one, and no others");
  require(term.kind != kNoneOf || term.children.size() == 1, "a negation has one child");
  require(term.kind != kAnyOf || term.children.size() > 1, "an alternative has several children");
  require(term.kind <= kNoneOf || term.children.empty(), "leaves have no children");
  std::size_t terms = 1;
  for (const auto& child : term.children) terms += check(child, depth + 1);
  return terms;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  try {
    const auto term = gmail::parse_query(text, 1'709'210'096'789);
    require(check(term, 1) <= gmail::kMostTerms, "the tree has no more terms than it says");
    gmail::asks_for_spam_or_trash(term);
  } catch (const kruxos::ProxyError& error) {
    require(error.kind() == kruxos::ErrorKind::kInvalid, "a query is refused as bad input");
    require(gmail::is_utf8(error.what()), "a refusal is UTF-8");
  }
  return 0;
}
