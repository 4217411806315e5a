#include "core/policy/rules/rule_book.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "core/policy/rules/agent_name.hpp"
#include "core/util/error.hpp"
#include "core/util/file_owner.hpp"
#include "core/util/text.hpp"
#include "core/util/yaml_tree.hpp"

namespace krux {
namespace {

namespace fs = std::filesystem;
using RuleProblems = std::vector<RuleBook::Problem>;

/// What stands in the place of rules that are not known.
Rule unreadable_rule(const RuleSource& source) {
  Rule rule;
  rule.layer = source.layer;
  rule.file = source.file;
  rule.name = "rules that cannot be read";
  rule.reason =
      "The operator's rules cannot be read, so that nothing they may be about is done. The host's log says why.";
  if (source.layer == RuleLayer::kAgent) rule.agents = {small_letters(source.agent)};
  rule.tier = Tier::kBlocked;
  rule.unreadable = true;
  return rule;
}

bool is_left_alone(const fs::path& entry) {
  const auto name = entry.filename().string();
  return name.starts_with('.') || name.ends_with(".md");
}

/// Throws ConfigError where it cannot be read, or others could write it.
std::vector<fs::path> entries_of(const fs::path& directory) {
  std::vector<fs::path> entries;
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0 && errno == ENOENT) return entries;
  const auto problem = owner_problem(info);
  if (!problem.empty())
    throw ConfigError(fmt::format("{}: the directory of the rules {}.", directory.string(), problem));
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    if (!is_left_alone(at->path())) entries.push_back(at->path());
  }
  if (error)
    throw ConfigError(
        fmt::format("{}: the directory of the rules cannot be read: {}.", directory.string(), error.message()));
  std::sort(entries.begin(), entries.end());
  return entries;
}

void tell_no_agent(const fs::path& file, const std::string& why, RuleProblems& problems) {
  problems.push_back(
      {file,
       fmt::format("{}: no rules are read from it, since no agent has such a name. {} Name it after one agent; rules "
                   "for several agents stand in system.yaml or organisation.yaml, with \"agents\".",
                   printable(file.string()), why),
       true});
}

void tell_unused_file(const fs::path& file, RuleProblems& problems) {
  problems.push_back({file,
                      fmt::format("{}: no rules are read from it; rules stand in system.yaml, organisation.yaml and "
                                  "agents/<agent's name>.yaml.",
                                  file.string()),
                      false});
}

/// The files of the directory in which rules stand. `refusal`: why not all of them are known.
std::vector<RuleSource> sources_of(const fs::path& directory, RuleProblems& problems, std::string& refusal) {
  std::vector<RuleSource> sources;
  try {
    for (const auto& entry : entries_of(directory)) {
      if (entry.filename() == "system.yaml")
        sources.push_back({entry.string(), RuleLayer::kSystem, {}});
      else if (entry.filename() == "organisation.yaml")
        sources.push_back({entry.string(), RuleLayer::kOrganisation, {}});
      else if (entry.filename() != "agents")
        tell_unused_file(entry, problems);
    }
    for (const auto& entry : entries_of(directory / "agents")) {
      const auto agent = entry.stem().string();
      const auto why_none = agent_name_problem(agent);
      if (entry.extension() != ".yaml")
        tell_unused_file(entry, problems);
      else if (why_none.empty())
        sources.push_back({entry.string(), RuleLayer::kAgent, agent});
      else
        tell_no_agent(entry, why_none, problems);
    }
  } catch (const ConfigError& error) {
    refusal = error.what();
  }
  return sources;
}

}  // namespace

RuleBook::RuleBook(const fs::path& policies, const RuleSubjects& subjects)
    : directory_(policies.empty() ? fs::path() : policies / "rules") {
  reload(subjects);
}

/// Of a file that cannot be read: its rules of before; at the start what blocks all that they may be about.
void RuleBook::keep_before(const RuleSource& source, const RuleSubjects& subjects, Rules& rules) const {
  const auto before = rules_.find(source.file);
  if (before != rules_.end()) {
    auto& kept = rules[source.file] = before->second;
    for (auto& rule : kept) cover_what_is_new(rule, subjects);
  } else if (!read_once_) {
    rules[source.file] = {unreadable_rule(source)};
  }
}

void RuleBook::reload(const RuleSubjects& subjects) {
  const std::lock_guard reloading(reloading_);  // whoever decides meanwhile has the rules of before
  RuleProblems problems;
  Rules rules;
  std::string refusal;
  const auto sources = directory_.empty() ? std::vector<RuleSource>() : sources_of(directory_, problems, refusal);
  if (!refusal.empty()) {
    problems.push_back({directory_, refusal, true});
    for (const auto& [file, before] : rules_) keep_before({file.string(), RuleLayer::kSystem, {}}, subjects, rules);
    if (!read_once_) keep_before({directory_.string(), RuleLayer::kSystem, {}}, subjects, rules);
  }
  for (const auto& source : sources) {
    if (!refusal.empty()) break;
    try {
      rules[source.file] = parse_rules(read_text_file(source.file, Writers::kTrusted), source, subjects);
    } catch (const ConfigError& error) {
      problems.push_back({source.file, error.what(), true});
      keep_before(source, subjects, rules);
    }
  }
  for (const auto& [file, before] : rules_) {
    if (rules.contains(file) || before.empty() || file == directory_) continue;
    problems.push_back(
        {file, fmt::format("{}: the file is gone; its rules are lifted from now on.", file.string()), false});
  }
  std::vector<Rule> all;
  for (const auto& [file, own] : rules) all.insert(all.end(), own.begin(), own.end());
  auto set = std::make_shared<const RuleSet>(std::move(all));
  rules_ = std::move(rules);
  read_once_ = true;
  const std::lock_guard lock(mutex_);
  current_ = std::move(set);
  problems_ = std::move(problems);
  facts_ = subjects.facts;
}

RuleSetPtr RuleBook::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

std::vector<RuleBook::Problem> RuleBook::problems() const {
  const std::lock_guard lock(mutex_);
  return problems_;
}

const FactSource* RuleBook::facts() const {
  const std::lock_guard lock(mutex_);
  return facts_;
}

}  // namespace krux
