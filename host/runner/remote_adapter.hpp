// An adapter in a runner as core sees it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/adapter/service_adapter.hpp"
#include "core/net/http.hpp"
#include "core/replica/collection.hpp"
#include "core/upload/upload_reader.hpp"
#include "host/runner/adapter_runner.hpp"

namespace krux {

/// The account that it is made for.
struct RemoteAccount {
  std::string service, account_id, scopes_json, config_json;
  std::uint32_t generation = 0;
  std::vector<CollectionSpec> collections;
  std::shared_ptr<HttpClient> http;
  UploadReader* uploads = nullptr;  ///< outlives every call
  std::string base_url, settings_json;
};

/// Makes the adapter, in a process that serves. Made anew in the next process when one has ended, by the first call
/// that comes then. When the last one lets go of it the runner destroys its adapter; nobody waits for that.
CallResult<std::shared_ptr<ServiceAdapter>> make_remote_adapter(std::shared_ptr<AdapterRunner> runner,
                                                                RemoteAccount account, const CallContextPtr& call);

}  // namespace krux
