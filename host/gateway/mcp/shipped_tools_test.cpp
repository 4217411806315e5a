// What the shipped definitions cost a model's context, all of them connected.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "core/capability/answer_budget.hpp"
#include "core/capability/host_capabilities.hpp"
#include "core/definition/definition_loader.hpp"
#include "core/util/json.hpp"
#include "host/gateway/mcp/tool_profiles.hpp"
#include "host/gateway/mcp/tools.hpp"
#include "support/safe_file.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

/// Of copies: the checkout's modes are whatever its owner's umask made them.
std::vector<std::shared_ptr<const ServiceDefinition>> shipped() {
  const support::Scratch copies;
  std::vector<std::shared_ptr<const ServiceDefinition>> all;
  for (const auto& entry : std::filesystem::directory_iterator(KRUXOS_DEFINITIONS_DIR)) {
    if (entry.path().extension() != ".yaml") continue;
    const auto copy = copies.path() / entry.path().filename();
    support::copy_safe(entry.path(), copy);
    all.push_back(std::make_shared<const ServiceDefinition>(load_definition(copy)));
  }
  all.push_back(host_definition());
  return all;
}

std::vector<Offered> offered(const std::vector<std::shared_ptr<const ServiceDefinition>>& definitions = shipped()) {
  std::vector<Offered> all;
  for (const auto& definition : definitions) {
    for (const auto& capability : definition->capabilities) {
      if (capability.tier != Tier::kBlocked)
        all.push_back({{definition, &capability}, capability.delay_ms.value_or(30'000)});
    }
  }
  return all;
}

JsonDocument tools_of(const std::vector<Offered>& all) {
  const auto knows = [&](const std::string& name) {
    return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.listed.capability->name == name; });
  };
  return parse_json(mcp::tools_json(all, knows), "the tools", {4 << 20, 64});
}

enum class Of { kServices, kTheMachine };
struct Cost {
  std::size_t asked = 0, whole = 0;  ///< tokens: of what a model is shown at least, and of all that is sent
};

Cost cost_of(Of which) {
  auto all = offered();
  std::erase_if(
      all, [&](const Offered& one) { return one.listed.definition->needs_no_token() != (which == Of::kTheMachine); });
  const auto tools = tools_of(all);
  Cost cost;
  for (const auto& tool : tools.GetArray()) {
    const auto name = std::string(find_string(tool, "name").value_or(""));
    CAPTURE(name);
    CHECK(name.size() <= 37);
    CHECK(find_string(tool, "description")->size() <= 2'000);
    cost.asked += estimated_tokens(name) + estimated_tokens(*find_string(tool, "description")) +
                  estimated_tokens(to_json(tool["inputSchema"]));
    cost.whole += estimated_tokens(to_json(tool));
  }
  return cost;
}

}  // namespace

TEST_CASE("The tools of all services fit into a model's context") {
  const auto cost = cost_of(Of::kServices);
  CHECK(cost.asked < 5'000);
  CHECK(cost.whole < 9'000);
}

TEST_CASE("The tools for the machine itself, which an operator has to name, fit beside them") {
  const auto cost = cost_of(Of::kTheMachine);
  CHECK(cost.asked < 3'000);
  CHECK(cost.whole < 5'500);
}

/// As a host offers them: with what agents note.
std::vector<std::shared_ptr<const ServiceDefinition>> with_state() {
  auto all = shipped();
  all.push_back(state_definition());
  return all;
}

TEST_CASE("The core has what an agent does every day") {
  const auto shown = std::get<0>(mcp::chosen(offered(with_state()), "", {}));
  CHECK(shown.size() <= mcp::kMostCore);
  std::set<std::string> services, names;
  for (const auto& one : shown) services.insert(one.listed.definition->service);
  CHECK(services.size() == shipped().size());
  // The machine's own services have to be named in the configuration, and take turns then too.
  auto unnamed = offered(with_state());
  std::erase_if(unnamed, [](const Offered& one) {
    return std::set<std::string>{"filesystem", "network", "process"}.contains(one.listed.definition->service);
  });
  const auto of_services = std::get<0>(mcp::chosen(std::move(unnamed), "", {}));
  CHECK(std::any_of(of_services.begin(), of_services.end(),
                    [](const Offered& one) { return one.listed.capability->name == "email.label"; }));
  // Where one service is connected there is room for what it notes.
  const std::vector<std::shared_ptr<const ServiceDefinition>> fewer{shipped().front(), host_definition(),
                                                                    state_definition()};
  const auto of_fewer = std::get<0>(mcp::chosen(offered(fewer), "", {}));
  for (const auto& one : of_fewer) names.insert(one.listed.capability->name);
  CHECK(names.size() <= mcp::kMostCore);
  for (const char* name : {"state.persistent.get", "state.persistent.set"}) CHECK(names.contains(name));
  CHECK_FALSE(names.contains("state.shared.get"));
}

TEST_CASE("What agents note is a profile of its own, which costs a model little") {
  const auto all = with_state();
  const auto tools = tools_of(offered({state_definition()}));
  CHECK(tools.Size() == 15);
  std::size_t whole = 0;
  for (const auto& tool : tools.GetArray()) {
    CHECK(find_string(tool, "name")->size() <= 37);
    whole += estimated_tokens(to_json(tool));
  }
  CHECK(whole < 2'500);
  const auto shown = std::get<0>(mcp::chosen(offered(all), "state", {"state"}));
  std::set<std::string> services;
  for (const auto& one : shown) services.insert(one.listed.definition->service);
  CHECK(services == std::set<std::string>{"proxy", "state"});
  CHECK(std::get<0>(mcp::chosen(offered(all), "all", {})).size() == offered(all).size());
}

}  // namespace KRUXOS_TEST_FILE
