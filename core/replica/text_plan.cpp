#include "core/replica/text_plan.hpp"

#include <algorithm>
#include <array>

#include "core/replica/contains.hpp"
#include "core/replica/gram_index.hpp"

namespace krux {
namespace {

using Kind = Condition::Kind;
// Measured at a million rows: an entry of a token's list, and gathering the rows of a prefix of one, two and three
// characters, or of a token, for each row that has it.
constexpr double kEntryNs = 14;
constexpr double kSwitchNs = 300'000;  // starting to ask the index
constexpr double kWorth = 0.5;
constexpr int kMostAdded = 4;
constexpr double kUnseenShare = 0.1;  ///< of what the sample could have missed: most phrases are rarer by far
constexpr std::array<double, kGramLength + 1> kGatherNs{0, 42, 40, 33, 30};

template <typename T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

TextPlan gathered(Cover cover) {
  TextPlan plan{{}, {{cover.prefixes, cover.share, cover.ns}}, cover.exact, cover.share, cover.share, 0, cover.ns, {}};
  plan.cover = std::move(cover);
  return plan;
}

/// The cheapest first, then those that exclude more than they cost. They are taken for independent of each other; what
/// a phrase finds is not known well, so that against the most that it could find half is enough.
TextPlan all_of(std::vector<TextPlan> parts, const Goal& goal) {
  double fit = 1;
  for (const auto& part : parts) fit *= part.share;
  const auto walked = std::min(goal.rows, std::max(goal.missing, 1.0) / fit);
  const auto cost = [&](const TextPlan& part) { return goal.rows * part.gather_ns + walked * part.walk_ns; };
  std::stable_sort(parts.begin(), parts.end(), [&](const auto& a, const auto& b) {
    return cost(a) + walked * a.share * kVerifyNs < cost(b) + walked * b.share * kVerifyNs;
  });
  auto plan = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto& part = parts[i];
    if (part.cover.ns < plan.cover.ns) plan.cover = part.cover;
    const bool all_exact = plan.exact && part.exact;
    const auto likely = plan.share * (all_exact ? 1 : 1 - part.share);
    // What is gathered may still be once the rows that the index gives tell more.
    const auto possible = part.gathers.empty() ? plan.most * (1 - part.most) : 0;
    if (cost(part) > walked * std::max(likely, kWorth * possible) * kVerifyNs) {
      plan.exact = false;
      continue;
    }
    append(plan.needs, part.needs);
    append(plan.gathers, part.gathers);
    plan.exact = all_exact;
    plan.share *= part.share;
    plan.most *= part.most;
    plan.walk_ns += part.walk_ns;
    plan.gather_ns += part.gather_ns;
  }
  plan.cover.exact = plan.cover.exact && parts.size() == 1;
  return plan;
}

/// Where something is gathered of one, something of each is.
TextPlan any_of(const std::vector<TextPlan>& parts) {
  TextPlan plan{{TokenNeed{}}, {}, true, 0, 0, 0, 0, {{}, 0, 0, true}};
  auto& cover = plan.cover;
  bool gathers = false;
  for (const auto& part : parts) {
    gathers = gathers || !part.gathers.empty();
    append(cover.prefixes, part.cover.prefixes);
    cover.share = std::min(1.0, cover.share + part.cover.share);
    cover.ns += part.cover.ns;
    cover.exact = cover.exact && part.cover.exact;
    plan.needs[0].any.push_back(part.needs);
    plan.exact = plan.exact && part.exact;
    plan.share = std::min(1.0, plan.share + part.share);
    plan.most = std::min(1.0, plan.most + part.most);
    plan.walk_ns += part.walk_ns;
  }
  return gathers ? gathered(std::move(cover)) : plan;
}

Cover cover_of(std::string_view prefix, const TextSample& sample) {
  const auto share = sample.share(prefix);
  return {{std::string(prefix)}, share, share * kGatherNs[std::min(characters_of(prefix), kGramLength)], true};
}

TextPlan gram_plan(std::string_view gram, const TextSample& sample) {
  auto cover = cover_of(gram, sample);
  const auto share = cover.share;
  return {{{std::string(gram), {}}}, {}, true, share, share, share * kEntryNs, 0, std::move(cover)};
}

/// `count` of them, evenly spread, the first and the last among them.
template <typename T>
std::vector<T> spread(const std::vector<T>& all, std::size_t count) {
  if (all.size() <= count) return all;
  std::vector<T> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(all[i * (all.size() - 1) / (count - 1)]);
  return chosen;
}

/// The rarest tokens. How many rows have all of them is not known: words are made of the same syllables, so that each
/// excludes less than its share says, and neighbours tell the same. So a few more are asked for than would be needed if
/// they were independent, where that costs little beside looking at the rows of the rarest.
TextPlan phrase_plan(const std::vector<std::string_view>& grams, std::string_view term, const TextSample& sample) {
  constexpr std::size_t kCounted = 32, kMost = 4;
  std::vector<TextPlan> all, unseen;
  for (const auto gram : spread(grams, kCounted)) {
    all.push_back(gram_plan(gram, sample));
    if (all.back().share <= sample.least()) unseen.push_back(all.back());
  }
  if (unseen.size() >= kMost) all = spread(unseen, kMost);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.share < b.share; });
  TextPlan plan{all[0].needs,   {}, false,       sample.share(term), sample.at_most(all[0].share),
                all[0].walk_ns, 0,  all[0].cover};
  plan.cover.exact = false;
  if (plan.share <= sample.least()) plan.share *= kUnseenShare;
  for (std::size_t i = 1; i < std::min(kMost, all.size()); ++i) {
    if (all[i].walk_ns > kWorth * plan.most * kVerifyNs) break;
    append(plan.needs, all[i].needs);
    plan.walk_ns += all[i].walk_ns;
  }
  return plan;
}

TextPlan term_plan(std::string_view term, const TextSample& sample) {
  const auto grams = grams_of(term);
  if (grams.empty()) return gathered(cover_of(term, sample));
  return grams.size() == 1 ? gram_plan(grams[0], sample) : phrase_plan(grams, term, sample);
}

struct Token {
  std::string_view text;
  TextPlan plan;
};

/// What all rows that fit have.
void tokens_of(const Predicate& p, const TextSample& sample, std::vector<Token>& out) {  // NOLINT(misc-no-recursion)
  if (p.kind == Kind::kAllOf) {
    for (const auto& child : p.children) tokens_of(child, sample, out);
  }
  if (p.kind != Kind::kText) return;
  const auto grams = grams_of(p.text);
  if (grams.empty()) out.push_back({p.text, gathered(cover_of(p.text, sample))});
  for (const auto gram : grams) out.push_back({gram, gram_plan(gram, sample)});
}

/// What each row that fits has; false: a text has no token of its own. Alternatives first, since one text that is
/// nowhere ends them all at once; tags are one token each and the most common.
bool add_rare_needs(const Predicate& p, std::vector<TokenNeed>& needs) {  // NOLINT(misc-no-recursion)
  constexpr std::size_t kMostGrams = 8;
  if (p.kind == Kind::kText) {
    const auto grams = grams_of(p.text);
    for (const auto gram : spread(grams, kMostGrams)) needs.push_back({std::string(gram), {}});
    return !grams.empty();
  }
  if (p.kind == Kind::kAnyOf) {
    TokenNeed any;
    for (const auto& child : p.children) {
      if (!add_rare_needs(child, any.any.emplace_back())) return false;
    }
    needs.insert(needs.begin(), std::move(any));
    return true;
  }
  return std::all_of(p.children.begin(), p.children.end(),
                     [&](const Predicate& child) { return !is_indexed(child) || add_rare_needs(child, needs); });
}

using Texts = std::vector<std::string_view>;

/// Of the texts, those that have it; not quite none, for the rows to come may.
double share_with(const Token& token, const Texts& texts) {
  const auto lacking =
      std::count_if(texts.begin(), texts.end(), [&](auto text) { return !contains(text, token.text); });
  const auto count = static_cast<double>(texts.size());
  return (count - static_cast<double>(lacking) + 0.3) / (count + 0.3);
}

}  // namespace

std::optional<TextPlan> stricter_plan(const TextPlan& now, const Predicate& predicate, const TextSample& sample,
                                      const TextSample& given, const GivenSoFar& so_far) {
  const double left = so_far.rows * (1 - so_far.part_gone);
  const double all_to_come = so_far.given / so_far.part_gone * (1 - so_far.part_gone);
  double to_come = std::min(all_to_come, so_far.missing * so_far.given / (so_far.fit + 0.5));
  const double walked = all_to_come > 0 ? left * to_come / all_to_come : 0;
  std::vector<Token> tokens;
  tokens_of(predicate, sample, tokens);
  Texts texts(given.texts().begin(), given.texts().end());
  auto plan = now;
  double gain = -kSwitchNs;
  for (int added = 0; added < kMostAdded; ++added) {
    const Token* best = nullptr;
    double best_gain = 0, best_share = 1;
    for (const auto& token : tokens) {
      const auto share = share_with(token, texts);
      const auto cost = so_far.rows * token.plan.gather_ns + walked * token.plan.walk_ns;
      const auto spared = to_come * (1 - share) * kVerifyNs;
      if (spared - cost <= best_gain) continue;
      best = &token;
      best_gain = spared - cost;
      best_share = share;
    }
    if (!best) break;
    append(plan.needs, best->plan.needs);
    append(plan.gathers, best->plan.gathers);
    gain += best_gain;
    to_come *= best_share;
    std::erase_if(texts, [&](auto text) { return !contains(text, best->text); });
  }
  plan.exact = false;
  return gain > 0 ? std::optional(plan) : std::nullopt;
}

/// A quarter of the rows tells enough of what is common.
double TextSample::share(std::string_view term) const {
  std::size_t rows = 0, count = 0;
  while (rows < texts_.size() && (rows < kMost / 4 || count <= kMost / 64)) {
    const auto& text = texts_[rows++];
    count += contains(text, term) ? 1U : 0U;
  }
  return share_of(count, rows);
}

bool index_is_sooner(const LookedAt& s, const TextPlan& plan) {
  const double found_share = (s.found + 0.5) / s.looked_at;
  // How many there are is not known: a field's value that none of the newest rows has may still be that of many older.
  const double of_base = std::min(s.missing / found_share, s.rows);
  const double of_all = s.in_order ? std::min(s.rows, of_base / s.base_share) : s.rows;
  const double staying = of_base * s.row_ns;
  // Counting may be tried on what rows cost at best: it ends when its time is over, with the page as it is.
  const double row_ns = s.left_ns ? kLookupNs * 2 / 3 : kLookupNs * 3 / 2;
  const double by_index = kSwitchNs + s.rows * plan.gather_ns + of_all * (plan.walk_ns + plan.share * row_ns);
  if (!s.left_ns) return staying > by_index;
  if (!s.in_order) return false;  // the page would have to be found anew
  return staying > *s.left_ns && by_index < *s.left_ns;
}

bool is_indexed(const Predicate& p) {  // NOLINT(misc-no-recursion)
  if (p.kind == Kind::kAllOf) return std::any_of(p.children.begin(), p.children.end(), is_indexed);
  if (p.kind == Kind::kAnyOf)
    return !p.children.empty() && std::all_of(p.children.begin(), p.children.end(), is_indexed);
  return p.kind == Kind::kText;
}

// NOLINTNEXTLINE(misc-no-recursion)
std::optional<TextPlan> text_plan(const Predicate& p, const TextSample& sample, const Goal& goal) {
  if (!is_indexed(p)) return std::nullopt;
  if (p.kind == Kind::kText) return term_plan(p.text, sample);
  std::vector<TextPlan> parts;
  bool whole = true;
  for (const auto& child : p.children) {
    auto part = text_plan(child, sample, goal);
    whole = whole && part;
    if (part) parts.push_back(*std::move(part));
  }
  auto plan = p.kind == Kind::kAllOf ? all_of(std::move(parts), goal) : any_of(parts);
  plan.exact = plan.exact && whole;
  plan.cover.exact = plan.cover.exact && whole;
  return plan;
}

std::optional<TextPlan> rare_text_plan(const Predicate& p) {
  TextPlan plan;
  if (!is_indexed(p) || !add_rare_needs(p, plan.needs)) return std::nullopt;
  plan.exact = false;
  plan.share = 0;
  return plan;
}

}  // namespace krux
