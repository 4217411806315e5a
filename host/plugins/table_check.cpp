#include "host/plugins/table_check.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "core/net/http.hpp"
#include "core/util/clock.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "host/plugins/abi_bridge/adapter_creation.hpp"
#include "host/plugins/config_schema.hpp"

namespace krux {
namespace {

constexpr std::chrono::milliseconds kPatience{3000};

class NoHttp final : public HttpClient {
 public:
  HttpOutcome send(const CallContextPtr&, const HttpRequest&, HttpSink&) override {
    return {KRUX_UNSUPPORTED, "Nothing is sent while an adapter is looked at.", std::nullopt};
  }
};

/// Lives as long as the process: an adapter may have threads.
struct Trial {
  SystemClock clock;
  AdapterCreation creation;
  std::promise<void> done;
};

TableCheck unknown(std::string why) {
  return {{}, std::nullopt, std::move(why)};
}

std::shared_ptr<Trial> trial_of(const krux_plugin_entry& entry, std::string_view describe_json) {
  auto trial = std::make_shared<Trial>();
  auto& creation = trial->creation;
  creation.entry = &entry;
  creation.config = creation.settings = "{}";
  creation.collections = parse_collections(describe_json);
  creation.host = std::make_shared<LentHost>(entry.service, std::string(), std::make_shared<NoHttp>(), nullptr,
                                             [](int, const std::string&, const std::string&, std::string_view) {});
  creation.call = std::make_shared<CallContext>(CallOwner{entry.service, {}, 0, {}, 0, Sends::kNothing}, trial->clock,
                                                trial->clock.boot_ms() + kPatience.count());
  return trial;
}

}  // namespace

TableCheck check_tables(const krux_plugin_entry& entry, std::string_view describe_json) {
  const auto described = parse_json(describe_json, "the adapter's description");
  if (const auto* schema = find_member(described, "config_schema");
      schema && !config_problem(to_json(*schema), "{}").empty())
    return unknown("It needs a configuration.");
  static std::shared_ptr<Trial> trial;
  trial = trial_of(entry, describe_json);
  try {
    std::thread([kept = trial] {
      kept->creation.run();
      kept->done.set_value();
    }).detach();
  } catch (const std::system_error& error) {  // nothing that the adapter could help
    return unknown(fmt::format("The host could not start a thread: {}", error.what()));
  }
  if (trial->done.get_future().wait_for(kPatience) != std::future_status::ready)
    return unknown("No adapter was made within 3 seconds.");
  const auto& creation = trial->creation;
  if (creation.instance) return {{}, creation.instance->roles(), {}};
  if (creation.unfit) return {creation.failure.message, std::nullopt, {}};
  return unknown(fmt::format("No adapter could be made without an account: {}", creation.failure.message));
}

std::string to_json(const TableCheck& check) {
  if (!check.problem.empty()) return "{\"problem\":" + json_string(printable(check.problem)) + "}";
  if (!check.roles) return "{\"unknown\":" + json_string(printable(check.unknown)) + "}";
  std::string roles;
  for_each_role([&](auto role) {
    if ((*check.roles).*role.kHas) roles += (roles.empty() ? "" : ",") + json_string(role.kName);
  });
  return "{\"roles\":[" + roles + "]}";
}

TableCheck table_check_of(std::string_view json) {
  const auto whole = parse_json(json, "the word about the adapter's tables");
  if (const auto problem = find_string(whole, "problem")) return {std::string(*problem), std::nullopt, {}};
  if (const auto why = find_string(whole, "unknown")) return unknown(std::string(*why));
  const auto* roles = find_member(whole, "roles");
  if (!roles || !roles->IsArray()) return unknown("Nothing was said of them.");
  AdapterRoles has;
  for (const auto& name : roles->GetArray()) {
    for_each_role([&](auto role) {
      if (name.IsString() && view(name) == role.kName) has.*role.kHas = true;
    });
  }
  return {{}, has, {}};
}

}  // namespace krux
