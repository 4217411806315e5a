// Making an adapter from its library's entry.
#pragma once

#include <kruxos/abi/entry.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/adapter/call.hpp"
#include "core/replica/collection.hpp"
#include "host/plugins/abi_bridge/adapter_instance.hpp"
#include "host/plugins/abi_bridge/lent_host.hpp"

namespace krux {

/// What the thread that makes an adapter needs, and what comes of it. An adapter that nobody takes, since its creation
/// was abandoned, goes with it.
struct AdapterCreation {
  const krux_plugin_entry* entry = nullptr;
  std::string account_id, scopes, config;  ///< scopes: a JSON array, or empty when unknown
  std::string base_url, settings;          ///< settings: a JSON object
  std::uint32_t generation = 0;
  std::vector<CollectionSpec> collections;
  std::shared_ptr<LentHost> host;
  CallContextPtr call;

  std::shared_ptr<AdapterInstance> instance;  ///< nullptr: see failure
  CallFailure failure;
  bool unfit = false;  ///< it was made, and its tables are not in order

  void run();
};

}  // namespace krux
