// What an adapter is lent for its whole life: HTTP, uploads and a log.
#pragma once

#include <kruxos/abi/entry.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "host/plugins/abi_bridge/lent_http.hpp"
#include "host/plugins/abi_bridge/lent_uploads.hpp"

namespace krux {

/// Takes one line of an adapter, control characters escaped. `level` is KRUX_LOG_DEBUG ... KRUX_LOG_ERROR. Any thread.
using AdapterLog =
    std::function<void(int level, const std::string& service, const std::string& account_id, std::string_view line)>;

/// Writes to the program's default logger.
AdapterLog default_adapter_log();
/// Whether the program's default logger takes lines of that level.
bool is_logged(int level);

class LentHost {
 public:
  LentHost(std::string service, std::string account_id, std::shared_ptr<HttpClient> http, UploadReader* uploads,
           AdapterLog log);
  LentHost(const LentHost&) = delete;
  LentHost& operator=(const LentHost&) = delete;
  const krux_host* table() const { return &table_; }

 private:
  const void* query(const char* iid) const;
  void log(int level, krux_str message) const;

  const std::string service_, account_id_;
  const AdapterLog log_;
  LentHttp http_;
  LentUploads uploads_;
  krux_log log_table_{};
  krux_host table_{};
};

}  // namespace krux
