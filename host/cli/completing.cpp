#include "host/cli/completing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/util/text.hpp"
#include "host/cli/table.hpp"
#include "host/cli/word_walk.hpp"
#include "host/http/http_types.hpp"

namespace krux::cli {
namespace {

constexpr int kSeconds = 1, kWidestMeaning = 60;

struct Choice {
  std::string word, meaning;
};
using Choices = std::vector<Choice>;

/// Which writes a command is about; others: any.
const char* writes_for(const std::string& path) {
  static const std::map<std::string, const char*> by_command{
      {"kruxos approve accept", "state=pending_approval"},
      {"kruxos approve reject", "state=pending_approval"},
      {"kruxos approve resolve", "state=unknown"},
      {"kruxos approve rollback", "state=completed"},
      {"kruxos approve cancel", "state=held,pending_approval,buffered"},
      {"kruxos approve edit", "state=held,pending_approval,buffered"},
      {"kruxos dlq show", "state=dead_letter"},
      {"kruxos dlq retry", "state=dead_letter"},
      {"kruxos dlq discard", "state=dead_letter"},
      {"kruxos held show", "held=1"},
      {"kruxos held release", "held=1"},
      {"kruxos held complete", "held=1"},
      {"kruxos held discard", "held=1"}};
  const auto found = by_command.find(path);
  return found == by_command.end() ? "" : found->second;
}

class Completing {
 public:
  Completing(const WordWalk& walk, std::string begun, const HostOf& host_of)
      : walk_(walk), begun_(std::move(begun)), host_of_(host_of), value_(begun_) {}

  std::string lines() {
    if (!walk_.unknown_command.empty() || !walk_.unknown_option.empty() || walk_.others) return {};
    if (walk_.awaits) {
      values_of(*walk_.awaits, begun_);
    } else if (begun_.starts_with("-") && !walk_.behind_dashes) {
      option();
    } else if (!commands_of(*walk_.command).empty()) {
      for (const auto* one : commands_of(*walk_.command)) add(one->get_name(), one->get_description());
    } else {
      positional();
    }
    return std::move(lines_);
  }

 private:
  void option() {
    const auto equals = begun_.find('=');
    if (equals != std::string::npos) {
      const auto* given = find_option(walk_.command, begun_.substr(0, equals));
      if (!given || !takes_value(*given)) return;
      before_ = begun_.substr(0, equals + 1);
      return values_of(*given, begun_.substr(equals + 1));
    }
    for (const auto* at = walk_.command; at; at = at->get_parent()) {
      for (const auto* one : options_of(*at)) {
        const bool given = std::any_of(walk_.options.begin(), walk_.options.end(),
                                       [&](const auto& other) { return other.first == one; });
        const bool hides = at != walk_.command && name_of(*one) == "--help";  // the command has its own
        if (!hides && (!given || one->get_items_expected_max() > 1)) add(name_of(*one), one->get_description());
      }
    }
  }

  void positional() {
    const auto all = positionals_of(*walk_.command);
    if (all.empty()) return;
    const auto at = std::min(walk_.positionals.size(), all.size() - 1);
    const bool taken = walk_.positionals.size() >= all.size() && all.back()->get_items_expected_max() == 1;
    if (!taken) values_of(*all[at], begun_);
  }

  void values_of(const CLI::Option& option, const std::string& begun) {
    value_ = begun;
    const auto& type = option.get_type_name();
    if (type == "FILE" || type == "DIR") {
      lines_ += type == "DIR" ? ":directories\n" : ":files\n";
    } else if (type == "SHELL") {
      for (const auto* shell : {"bash", "zsh", "fish"}) add(shell, "");
    } else if (type == "COMMAND") {
      command_names();
    } else if (type == "TOOLS") {
      for (const auto* profile : {"core", "all"}) add(profile, "");
      of_host("SERVICE");
    } else {
      of_host(type);
    }
  }

  /// Of `help`: the words so far lead to a command.
  void command_names() {
    const auto* root = walk_.command->get_parent();
    const auto walk = walk_words(*root, walk_.positionals);
    if (!walk.unknown_command.empty()) return;
    for (const auto* one : commands_of(*walk.command)) add(one->get_name(), one->get_description());
  }

  void of_host(const std::string& type) {
    try {
      if (type == "SERVICE") services();
      if (type == "AGENT") listed("/v1/agents", "agents", "name", {"agent_id"});
      if (type == "WRITE") writes();
      if (type == "PROFILE") of_service("profiles");
      if (type == "FLOW") of_service("flows");
      if (type == "ACCOUNT") accounts();
      if (type == "RECEIPT") listed("/v1/receipts", "receipts", "receipt_id", {"service", "account_name"});
      if (type == "GRANT") listed("/v1/sign-in", "grants", "grant_id", {"agent", "client_name"});
      if (type == "REQUEST") listed("/v1/sign-in", "requests", "request_id", {"client_name"});
      if (type == "STANDING")
        listed("/v1/standing-approvals", "standing_approvals", "standing_id", {"agent", "operation"});
      if (type == "ALERT") alerts();
      if (type == "OPERATOR") operators();
    } catch (const std::exception&) {  // not running, or busy: there is nothing to choose from
    }
  }

  HostAnswer get(const std::string& target) {
    std::string socket, data_dir;
    for (const auto& [option, value] : walk_.options) {
      if (name_of(*option) == "--socket") socket = value;
      if (name_of(*option) == "--data-dir") data_dir = value;
    }
    return host_of_(socket, data_dir).with_timeout(kSeconds).get(target);
  }

  void listed(const std::string& target, const char* list, const char* word,
              std::initializer_list<const char*> meaning) {
    const auto answer = get(target);
    for (const auto& one : items(answer.json, list).GetArray()) {
      std::string words;
      for (const auto* part : meaning) words += (words.empty() ? "" : " ") + text(one, part);
      add(text(one, word), words);
    }
  }

  void services() {
    std::map<std::string, std::string> states;
    const auto answer = get("/v1/connections");
    for (const auto& one : items(answer.json, "connections").GetArray())
      states.emplace(text(one, "service"), text(one, "state"));
    for (const auto& [service, state] : states) add(service, state);
    if (walk_.path == "kruxos connect") add("status", "All connections");
  }

  void accounts() {
    if (walk_.positionals.empty()) return;
    const auto answer = get("/v1/connections");
    for (const auto& one : items(answer.json, "connections").GetArray()) {
      const auto name = text(one, "name");
      if (text(one, "service") == walk_.positionals.front())
        add(name.empty() ? text(one, "account_id") : name, text(one, "account_name"));
    }
  }

  /// Of the service that the words name.
  void of_service(const char* list) {
    if (walk_.positionals.empty()) return;
    const auto answer = get("/v1/connections/" + url_encode(walk_.positionals.front()));
    for (const auto& one : items(part(part(answer.json, "connection"), "oauth"), list).GetArray())
      add(text(one, "name"), text(one, "description"));
  }

  void writes() {
    const std::string query = writes_for(walk_.path);
    const auto answer = get(fmt::format("/v1/writes?{}{}limit=50", query, query.empty() ? "" : "&"));
    std::vector<std::string> ids;
    for (const auto& one : items(answer.json, "writes").GetArray()) ids.push_back(text(one, "write_id"));
    const auto enough = enough_of_ids(ids);
    for (const auto& one : items(answer.json, "writes").GetArray()) {
      const auto id = text(one, "write_id");
      const bool given = std::find(walk_.positionals.begin(), walk_.positionals.end(), id.substr(0, enough)) !=
                         walk_.positionals.end();
      // Who has typed more than that wants all of it.
      if (!given)
        add(value_.size() > enough ? id : id.substr(0, enough),
            fmt::format("{} {} {}", text(one, "state"), text(one, "operation"), text(one, "summary")));
    }
  }

  void alerts() {
    const auto answer = get("/v1/alerts");
    for (const auto& one : items(answer.json, "alerts").GetArray())
      add(std::to_string(number(one, "id")), text(one, "message"));
  }

  void operators() {
    const auto answer = get("/v1/operator");
    for (const auto& one : items(part(answer.json, "operator"), "operators").GetArray()) add(text(one, "name"), "");
  }

  /// Only what goes on from what is there, and what a shell's line can hold.
  void add(const std::string& word, const std::string& meaning) {
    if (word.empty() || !word.starts_with(value_) || printable(word) != word || word.find(' ') != std::string::npos)
      return;
    lines_ += before_ + word + "\t" + fit(printable(meaning), kWidestMeaning) + "\n";
  }

  const WordWalk& walk_;
  const std::string begun_;
  const HostOf& host_of_;
  std::string before_;  ///< "--option="
  std::string value_;   ///< what is there of the word behind it
  std::string lines_;
};

}  // namespace

std::string completions(const CLI::App& app, std::vector<std::string> words, const HostOf& host_of) {
  std::string begun;
  if (!words.empty()) {
    begun = words.back();
    words.pop_back();
  }
  // bash makes a word of its own of the "=" behind an option.
  if (begun == "=") begun.clear();
  std::erase(words, "=");
  const auto walk = walk_words(app, words);
  return Completing(walk, begun, host_of).lines();
}

}  // namespace krux::cli
