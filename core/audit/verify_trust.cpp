#include "core/audit/verify_trust.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace krux {
namespace {

class Scales {
 public:
  explicit Scales(const AuditRoots& roots) : roots_(roots) {
    if (roots.from_first_row) in_force_.emplace();
  }

  AuditTrust weigh(const std::vector<AuditWord>& words) {
    for (const auto& word : words) word.kind == AuditWord::Kind::kKey ? replace(word) : cut(word);
    trust_.key = in_force_.value_or("");
    return std::move(trust_);
  }

 private:
  void problem(std::int64_t seq, std::string message) {
    trust_.problems.push_back({seq, "signature", std::move(message)});
  }

  void enter(const std::string& key) {
    in_force_ = key;
    trust_.keys.insert(key);
  }

  /// A key comes into force by the word of the one before it alone; the first one of a log has none before it.
  void replace(const AuditWord& word) {
    const bool first = word.key.empty();
    const bool vouched = roots_.keys.contains(word.next) || word.seq <= roots_.vouched;
    bool follows = first || word.agreed, enters = vouched || (word.agreed && roots_.keys.contains(word.key));
    if (in_force_) {
      follows = in_force_->empty() ? first : word.key == *in_force_ && word.agreed;
      // Behind a key that was replaced without a word the log goes on for whoever vouches for the new one.
      enters = follows || roots_.keys.contains(word.next);
    } else if (!roots_.keys.empty()) {
      follows = follows && enters;
    }
    if (!follows) problem(word.seq, why_not(word));
    if (!enters) return;
    if (word.agreed && follows) trust_.keys.insert(word.key);
    enter(word.next);
  }

  std::string why_not(const AuditWord& word) const {
    const auto row = fmt::format("row {}: the key {} was put in the place of ", word.seq, word.next);
    if (in_force_ && !in_force_->empty()) return row + fmt::format("{}, which has given no word for it.", *in_force_);
    if (word.key.empty()) return row + "another one, which has given no word for it.";
    return row +
           fmt::format("{}, which {}.", word.key, word.agreed ? "nobody vouches for" : "has given no word for it");
  }

  void cut(const AuditWord& word) {
    if (!word.agreed)
      return problem(word.seq, fmt::format("row {} takes rows out, and its key has not signed that.", word.seq));
    if (!in_force_ && (roots_.keys.contains(word.key) || word.seq <= roots_.vouched)) enter(word.key);
    if (in_force_ && !in_force_->empty() && word.key == *in_force_) {
      trust_.cuts.emplace(word.through, word);
    } else if (!in_force_ && roots_.keys.empty()) {
      trust_.unknown_cuts.emplace(word.through, word);
    } else {
      problem(word.seq, fmt::format("row {} takes rows out, and is signed by {}, which was not the key in force there.",
                                    word.seq, word.key));
    }
  }

  const AuditRoots& roots_;
  std::optional<std::string> in_force_;  ///< nothing: rows that would say so are gone; empty: no key was named yet
  AuditTrust trust_;
};

}  // namespace

const AuditWord* find_cut(const AuditCuts& cuts, std::int64_t through, const AuditHash& hash) {
  const auto [from, to] = cuts.equal_range(through);
  for (auto at = from; at != to; ++at)
    if (at->second.hash == hash) return &at->second;
  return nullptr;
}

AuditTrust weigh(const std::vector<AuditWord>& words, const AuditRoots& roots) {
  return Scales(roots).weigh(words);
}

}  // namespace krux
