#include "host/plugins/abi_bridge/lent_host.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>

#include "core/util/text.hpp"
#include "host/plugins/abi_bridge/limits.hpp"

namespace krux {
namespace {

spdlog::level::level_enum level_of(int level) {
  constexpr spdlog::level::level_enum levels[] = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                                  spdlog::level::err};
  return levels[level];
}

}  // namespace

AdapterLog default_adapter_log() {
  return [](int level, const std::string& service, const std::string& account_id, std::string_view line) {
    spdlog::log(level_of(level), "[{}/{}] {}", service, account_id, line);
  };
}

bool is_logged(int level) {
  return spdlog::should_log(level_of(level));
}

LentHost::LentHost(std::string service, std::string account_id, std::shared_ptr<HttpClient> http, UploadReader* uploads,
                   AdapterLog log)
    : service_(std::move(service)),
      account_id_(std::move(account_id)),
      log_(std::move(log)),
      http_(std::move(http)),
      uploads_(uploads) {
  log_table_.size = sizeof(krux_log);
  log_table_.self = this;
  log_table_.write = [](void* self, std::int32_t level, krux_str message) noexcept {
    try {
      static_cast<const LentHost*>(self)->log(level, message);
    } catch (...) {  // a line is lost; a log must not fail the call
    }
  };
  table_.size = sizeof(krux_host);
  table_.abi_minor = KRUX_ABI_MINOR;
  table_.self = this;
  table_.query = [](void* self, const char* iid) noexcept { return static_cast<const LentHost*>(self)->query(iid); };
}

const void* LentHost::query(const char* iid) const {
  if (!iid) return nullptr;
  if (std::strcmp(iid, KRUX_IID_HTTP_CLIENT) == 0) return http_.table();
  if (std::strcmp(iid, KRUX_IID_UPLOADS) == 0) return uploads_.table();
  if (std::strcmp(iid, KRUX_IID_LOG) == 0) return &log_table_;
  return nullptr;
}

void LentHost::log(int level, krux_str message) const {
  if (!message.ptr) return;
  const std::string_view text(message.ptr, std::min(message.len, limits::kLongestLogLine));
  log_(std::clamp<int>(level, KRUX_LOG_DEBUG, KRUX_LOG_ERROR), service_, account_id_, printable(text));
}

}  // namespace krux
