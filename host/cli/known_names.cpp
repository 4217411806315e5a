#include "host/cli/known_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/util/nearest.hpp"
#include "core/util/text.hpp"

namespace krux::cli {
namespace {

std::vector<std::string> names_in(const HostAnswer& answer, const char* list, const char* member) {
  std::vector<std::string> names;
  for (const auto& one : items(answer.json, list).GetArray()) names.push_back(text(one, member));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string there_are(const std::vector<std::string>& names, const char* command) {
  constexpr std::size_t most = 12;
  if (names.empty()) return "There is none yet.";
  if (names.size() > most) return fmt::format("{} shows them.", command);
  std::string all;
  for (const auto& name : names) all += (all.empty() ? "" : ", ") + printable(name);
  return fmt::format("There {}: {}.", names.size() == 1 ? "is" : "are", all);
}

}  // namespace

void must_be_service(const Session& session, const std::string& service) {
  const auto names = names_in(session.host.get("/v1/connections"), "connections", "service");
  if (is_among(names, service)) return;
  throw CliError(kNotFound, fmt::format("There is no service {} here{}. {} kruxos plugin list shows the adapters and "
                                        "why some are refused.",
                                        printable(service), did_you_mean(service, names),
                                        there_are(names, "kruxos connect status")));
}

void must_narrow_to_something(const Session& session, const std::string& service, const std::string& agent) {
  if (!service.empty()) must_be_service(session, service);
  if (!agent.empty()) must_be_agent(session, agent);
}

void must_be_agent(const Session& session, const std::string& agent) {
  const auto answer = session.host.get("/v1/agents");
  const auto names = names_in(answer, "agents", "name");
  if (is_among(names, agent) || is_among(names_in(answer, "agents", "agent_id"), agent)) return;
  throw CliError(kNotFound, fmt::format("There is no agent {}{}. {}", printable(agent), did_you_mean(agent, names),
                                        there_are(names, "kruxos agent list")));
}

}  // namespace krux::cli
