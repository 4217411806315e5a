// An account's HttpClient as its adapter sees it.
#pragma once

#include <kruxos/abi/http.h>

#include <memory>

#include "core/net/http.hpp"
#include "core/net/side_by_side.hpp"

namespace krux {

/// Lives as long as the adapter.
class LentHttp {
 public:
  explicit LentHttp(std::shared_ptr<HttpClient> client);
  LentHttp(const LentHttp&) = delete;
  LentHttp& operator=(const LentHttp&) = delete;
  const krux_http_client* table() const { return &table_; }

 private:
  krux_status send(const krux_call* call, const krux_http_request* request, const krux_http_answer* answer) noexcept;
  krux_status send_many(const krux_call* call, const krux_http_request* const* requests,
                        const krux_http_answer* const* answers, krux_status* statuses, std::size_t count) noexcept;

  const std::shared_ptr<HttpClient> client_;
  SideBySide side_by_side_;
  krux_http_client table_{};
};

}  // namespace krux
