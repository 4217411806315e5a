#include "core/policy/analysis/request_space.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/policy/rules/rule_request.hpp"
#include "core/util/durations.hpp"
#include "core/util/json.hpp"

namespace krux {
namespace {

constexpr std::int64_t kTimeSpan = 366 * kDay;
constexpr int kOffsetMinutes = 15;  ///< of which every zone's distance from UTC is a multiple nowadays
constexpr std::size_t kMostSteps = 500'000;

/// What conditions may say together, and what makes them say it.
struct Region {
  std::vector<bool> truth;  ///< by the dimension's conditions
  SampleParams params;
  std::int64_t wall_ms = 0;
  std::vector<std::pair<std::string, Truth>> facts{};
};

/// Conditions that look at the same thing. What holds of one dimension leaves the others free.
struct Dimension {
  ConditionList conditions;
  std::vector<Region> regions;

  void add(Region region) {
    const auto same = [&](const Region& other) { return other.truth == region.truth; };
    if (std::none_of(regions.begin(), regions.end(), same)) regions.push_back(std::move(region));
  }
};

std::string object_of(const SampleParams& params) {
  std::string json = "{";
  for (const auto& [name, value] : params) json += (json.size() == 1 ? "" : ",") + json_string(name) + ":" + value;
  return json + "}";
}

void add_params(Dimension& dimension, const CapabilityDefinition& capability, std::vector<SampleParams> samples) {
  for (auto& params : samples) {
    const auto document = parse_json(object_of(params), "a sample", {64 << 20, 32});
    const RuleRequest request("", capability, document, 0, nullptr);
    Region region{{}, std::move(params)};
    for (const auto* c : dimension.conditions) region.truth.push_back(request.holds(*c));
    dimension.add(std::move(region));
  }
}

/// The longest step that misses no minute at which a window begins or ends.
int step_of(const ConditionList& conditions) {
  int step = kOffsetMinutes;
  for (const auto* c : conditions) step = std::gcd(std::gcd(step, c->window.from_minute), c->window.to_minute);
  return step;
}

void add_times(Dimension& dimension, std::int64_t from_ms) {
  const auto step_ms = step_of(dimension.conditions) * kMinute;
  std::vector<bool> before;
  std::set<std::vector<bool>> seen;
  for (auto at = from_ms / step_ms * step_ms + step_ms; at < from_ms + kTimeSpan; at += step_ms) {
    std::vector<bool> truth;
    for (const auto* c : dimension.conditions)
      truth.push_back(c->window.holds(at) == (c->kind == ConditionKind::kTimeWithin));
    if (truth == before) continue;
    before = truth;
    if (seen.insert(truth).second) dimension.regions.push_back({std::move(truth), {}, at});
  }
}

void add_fact(Dimension& dimension, const std::string& name) {
  for (const auto truth : {Truth::kNo, Truth::kYes, Truth::kNotKnown}) {
    Region region{{}, {}, 0, {{name, truth}}};
    for (const auto* c : dimension.conditions)
      region.truth.push_back(truth == Truth::kNotKnown ||
                             (truth == Truth::kYes) == (c->kind == ConditionKind::kFactIs));
    dimension.add(std::move(region));
  }
}

/// The same capabilities within the same time, called ever more often; or it is not known how often.
void add_calls(Dimension& dimension) {
  std::set<std::int64_t> counts{0};
  for (const auto* c : dimension.conditions) counts.insert(c->number);
  const auto add = [&](std::optional<std::int64_t> count) {
    Region region;
    for (const auto* c : dimension.conditions) {
      const bool enough = count && *count >= c->number;
      region.truth.push_back(!count || enough == (c->kind == ConditionKind::kCalled));
      region.facts.emplace_back(c->input, !count ? Truth::kNotKnown : enough ? Truth::kYes : Truth::kNo);
    }
    dimension.add(std::move(region));
  };
  for (const auto count : counts) add(count);
  add(std::nullopt);
}

const InputDefinition* input_of(const CapabilityDefinition& capability, const std::string& name) {
  for (const auto& input : capability.inputs) {
    if (input.name == name) return &input;
  }
  return nullptr;
}

bool says_whom(const CapabilityDefinition& capability, const std::string& input) {
  const auto& names = capability.recipients;
  return !capability.recipients_are_texts && std::find(names.begin(), names.end(), input) != names.end();
}

/// Which dimension a condition belongs to: a key for each.
std::string dimension_of(const CapabilityDefinition& capability, const RuleCondition& condition) {
  if (reads_time(condition.kind)) return "time";
  if (reads_fact(condition.kind)) return "fact " + condition.input;
  if (reads_history(condition.kind)) {
    auto key = "calls " + std::to_string(condition.window_ms);
    for (const auto& called : condition.texts) key += ' ' + called;
    return key;
  }
  if (reads_recipients(condition.kind) || says_whom(capability, condition.input)) return "recipients";
  const auto* input = input_of(capability, condition.input);
  return reads_uploads(condition.kind) || (input && input->uploads) ? "uploads" : "input " + condition.input;
}

/// The parameters that a dimension's regions say everything of.
std::vector<std::string> owned_params(const CapabilityDefinition& capability, const std::string& dimension) {
  if (dimension == "recipients") return capability.recipients;
  if (dimension.starts_with("input ")) return {dimension.substr(6)};
  std::vector<std::string> names;
  for (const auto& input : capability.inputs) {
    if (dimension == "uploads" && input.uploads) names.push_back(input.name);
  }
  return names;
}

/// What each request has, whatever conditions say.
SampleParams required_params(const CapabilityDefinition& capability) {
  SampleParams params;
  for (const auto& input : capability.inputs) {
    if (input.default_json) params[input.name] = *input.default_json;
    if (!input.required || input.default_json) continue;
    const auto samples = samples_of_input(input, {}, Bounds::kDefinition);
    if (!samples.empty()) params.insert(samples.back().begin(), samples.back().end());
    if (input.type == InputType::kString && says_whom(capability, input.name)) params[input.name] = "\"a@example.com\"";
  }
  return params;
}

}  // namespace

struct RequestSpace::State {
  const CapabilityDefinition& capability;
  std::vector<Dimension> dimensions;
  std::vector<std::pair<std::size_t, std::size_t>> places;  ///< of each condition: its dimension, its place there
  ConditionList conditions;
  std::int64_t from_ms = 0;
  Bounds bounds = Bounds::kType;

  using Alive = std::vector<std::vector<std::size_t>>;  ///< by dimension: regions that are still possible

  void fill(Dimension& dimension, const std::string& key) {
    if (key == "time") return add_times(dimension, from_ms);
    if (key.starts_with("fact ")) return add_fact(dimension, key.substr(5));
    if (key.starts_with("calls ")) return add_calls(dimension);
    if (key == "recipients")
      return add_params(dimension, capability, samples_of_recipients(capability, dimension.conditions, bounds));
    if (key == "uploads")
      return add_params(dimension, capability, samples_of_uploads(capability, dimension.conditions, bounds));
    if (const auto* input = input_of(capability, key.substr(6)))
      add_params(dimension, capability, samples_of_input(*input, dimension.conditions, bounds));
  }

  std::pair<std::size_t, std::size_t> place_of(const RuleCondition& condition) const {
    const auto same = [&](const RuleCondition* known) { return *known == condition; };
    const auto at = std::find_if(conditions.begin(), conditions.end(), same) - conditions.begin();
    return places.at(static_cast<std::size_t>(at));
  }

  /// False: nothing is left.
  bool narrow(Alive& alive, const RuleCondition& condition, bool holds) const {
    const auto [dimension, place] = place_of(condition);
    const auto& regions = dimensions[dimension].regions;
    std::erase_if(alive[dimension], [&, at = place](std::size_t region) { return regions[region].truth[at] != holds; });
    return !alive[dimension].empty();
  }

  bool solve(Alive& alive, std::vector<ConditionList> failing, std::size_t& steps) const;
  SampleRequest request_of(const Alive& alive) const;
};

/// One list after the other, the one with the fewest possibilities first: either of its conditions fails.
bool RequestSpace::State::solve(Alive& alive, std::vector<ConditionList> failing,  // NOLINT(misc-no-recursion)
                                std::size_t& steps) const {
  if (++steps > kMostSteps) throw TooManyCases("the conditions depend on each other in too many ways");
  for (std::size_t i = 0; i < failing.size();) {
    auto& list = failing[i];
    bool fails = false;
    std::erase_if(list, [&](const RuleCondition* c) {
      const auto [dimension, place] = place_of(*c);
      const auto& regions = dimensions[dimension].regions;
      const auto holds = [&, at = place](std::size_t region) { return regions[region].truth[at]; };
      const auto& left = alive[dimension];
      fails = fails || std::none_of(left.begin(), left.end(), holds);
      return std::all_of(left.begin(), left.end(), holds);
    });
    if (!fails && list.empty()) return false;
    if (fails)
      failing.erase(failing.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
  if (failing.empty()) return true;
  const auto next = std::min_element(failing.begin(), failing.end(),
                                     [](const auto& a, const auto& b) { return a.size() < b.size(); });
  const auto list = *next;
  failing.erase(next);
  for (const auto* condition : list) {
    auto narrowed = alive;
    if (narrow(narrowed, *condition, false) && solve(narrowed, failing, steps)) {
      alive = std::move(narrowed);
      return true;
    }
    if (!narrow(alive, *condition, true)) return false;
  }
  return false;
}

SampleRequest RequestSpace::State::request_of(const Alive& alive) const {
  SampleRequest request{{}, from_ms, {}};
  auto params = required_params(capability);
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const auto& region = dimensions[i].regions[alive[i].front()];
    for (const auto& name : owned_params(capability, dimension_of(capability, *dimensions[i].conditions.front())))
      params.erase(name);
    params.insert(region.params.begin(), region.params.end());
    if (region.wall_ms != 0) request.wall_ms = region.wall_ms;
    request.facts.insert(request.facts.end(), region.facts.begin(), region.facts.end());
  }
  request.params_json = object_of(params);
  return request;
}

RequestSpace::RequestSpace(const CapabilityDefinition& capability, const ConditionList& conditions, Bounds bounds,
                           std::int64_t from_ms)
    : state_(new State{capability, {}, {}, {}, from_ms, bounds}) {
  std::map<std::string, std::size_t> known;
  for (const auto* condition : conditions) {
    const auto key = dimension_of(capability, *condition);
    const auto [at, is_new] = known.try_emplace(key, state_->dimensions.size());
    if (is_new) state_->dimensions.emplace_back();
    auto& own = state_->dimensions[at->second].conditions;
    state_->places.emplace_back(at->second, own.size());
    state_->conditions.push_back(condition);
    own.push_back(condition);
  }
  for (const auto& [key, at] : known) state_->fill(state_->dimensions[at], key);
}

RequestSpace::~RequestSpace() = default;

std::optional<SampleRequest> RequestSpace::find(const ConditionList& holding,
                                                const std::vector<ConditionList>& failing) const {
  State::Alive alive;
  for (const auto& dimension : state_->dimensions) {
    auto& all = alive.emplace_back(dimension.regions.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    if (all.empty()) return std::nullopt;
  }
  for (const auto* condition : holding) {
    if (!state_->narrow(alive, *condition, true)) return std::nullopt;
  }
  std::size_t steps = 0;
  if (!state_->solve(alive, failing, steps)) return std::nullopt;
  return state_->request_of(alive);
}

ConditionList conditions_of(const std::vector<const Rule*>& rules) {
  ConditionList all;
  for (const auto* rule : rules) {
    for (const auto& condition : rule->when) {
      const auto same = [&](const RuleCondition* known) { return *known == condition; };
      if (std::none_of(all.begin(), all.end(), same)) all.push_back(&condition);
    }
  }
  return all;
}

ConditionList pointers_to(const std::vector<RuleCondition>& conditions) {
  ConditionList all;
  for (const auto& condition : conditions) all.push_back(&condition);
  return all;
}

std::vector<std::string> SampleFacts::names() const {
  std::vector<std::string> names;
  for (const auto& [name, truth] : facts_) names.push_back(name);
  return names;
}

FactAnswer SampleFacts::has_called(const RuleCondition& asked, const FactQuestion& question) const {
  return ask(asked.input, question);
}

FactAnswer SampleFacts::ask(std::string_view fact, const FactQuestion&) const {
  for (const auto& [name, truth] : facts_) {
    if (name == fact) return {truth, {}};
  }
  return {};
}

}  // namespace krux
