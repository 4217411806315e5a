// Takes uploads in, off the event loops.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "core/upload/upload_store.hpp"
#include "host/gateway/agent_gateway.hpp"
#include "host/http/worker_pool.hpp"

namespace krux {

/// Any thread. The store must outlive it.
class UploadDesk {
 public:
  explicit UploadDesk(UploadStore& store);

  BodyToFile target();
  /// `done` runs once, on any thread.
  void add(const UploadRequest& upload, std::function<void(std::variant<std::string, Error>)> done);

 private:
  UploadStore& store_;
  WorkerPool pool_;
};

}  // namespace krux
