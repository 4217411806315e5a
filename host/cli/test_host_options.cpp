#include "host/cli/test_host_options.hpp"

#include <CLI/CLI.hpp>

namespace krux::cli {
namespace {

/// Each takes one value, and may be repeated: what stands behind it is an adapter.
void add_repeated(CLI::App& app, const char* name, std::vector<std::string>& values, const char* help,
                  const char* type) {
  app.add_option(name, values, help)
      ->type_name(type)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

void add_test_host_options(CLI::App& app, TestHostOptions& options) {
  app.add_option(
         "ADAPTER", options.adapters,
         "A service, which a mock stands in for; a mock's script (.json); an adapter (.so); a bundle's directory")
      ->required()
      ->type_name("ADAPTER");
  add_repeated(app, "--agent", options.agents, "An agent to make, instead of tester; may be repeated", "NAME");
  add_repeated(app, "--token", options.tokens, "What a service is connected with; mocks need none; may be repeated",
               "SERVICE=TOKEN");
  add_repeated(app, "--set", options.settings,
               "A value of the configuration, such as retry.settle_seconds=1; may be repeated", "KEY=VALUE");
  app.add_option("--delay", options.delay,
                 "How long writes wait in the buffer: 1 s unless given, with --driven-time as their definitions say")
      ->type_name("TIME");
  app.add_flag("--driven-time", options.driven_time,
               "The host's clock stands still until a line such as \"advance 1 h\" on standard input moves it");
  app.add_option("--definitions", options.definitions, "Directory of the services' definitions")->type_name("DIR");
  app.add_option("--policies", options.policies, "Directory of policies and rules; none unless given")
      ->type_name("DIR");
  app.add_option("--mock", options.mock, "The mock's library; the installed one unless given")->type_name("FILE");
  app.add_option("--log", options.log, "Append the host's log to this file, which stays")->type_name("FILE");
}

std::vector<std::string> words_of(const TestHostOptions& options) {
  std::vector<std::string> words;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.push_back(std::string(name) + "=" + value);
  };
  for (const auto& agent : options.agents) add("--agent", agent);
  for (const auto& token : options.tokens) add("--token", token);
  for (const auto& setting : options.settings) add("--set", setting);
  add("--delay", options.delay);
  if (options.driven_time) words.emplace_back("--driven-time");
  add("--definitions", options.definitions);
  add("--policies", options.policies);
  add("--mock", options.mock);
  add("--log", options.log);
  words.emplace_back("--");
  words.insert(words.end(), options.adapters.begin(), options.adapters.end());
  return words;
}

}  // namespace krux::cli
