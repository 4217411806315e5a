// What the host's parts know of themselves, read for each page of metrics. docs/metrics.md lists it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "host/http/connection_places.hpp"
#include "host/metrics/metrics_page.hpp"

namespace krux {

class AccountDirectory;
class AdapterRunners;
class AgentStore;
class CallRunner;
class Clock;
class GroupCommit;
class PluginRegistry;
class ServiceHost;
class SignInStore;
class SyncScheduler;
class Vault;
class Webhook;
struct WriteBuffer;

using ListenerFigures = std::map<std::string, std::function<PlaceFigures()>>;  ///< by the listener's name

struct FigureParts {
  Clock& clock;
  const GroupCommit& store;
  Vault& vault;
  AgentStore& agents;
  const SignInStore& sign_in;
  const PluginRegistry& plugins;
  const AdapterRunners& runners;
  const AccountDirectory& accounts;
  const CallRunner& runner;
  WriteBuffer& writes;
  const SyncScheduler& scheduler;
  ServiceHost& services;
  const ListenerFigures& listeners;
  const Webhook* webhook;  ///< null: there is none
};

/// "host", "accounts", "ledger", "limits". All must outlive the page.
std::vector<MetricSource> host_figures(const FigureParts& parts);

}  // namespace krux
