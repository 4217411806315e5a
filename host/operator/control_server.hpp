// The operator's HTTP and JSON over a Unix socket.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <memory>

#include "host/http/http_types.hpp"
#include "host/operator/operator_api.hpp"

namespace krux {

class AuditLog;
class OperatorGate;
class WorkerPool;

class ControlServer {
 public:
  struct Options {
    int threads = 4;
    std::size_t max_queued = 64;
    uid_t owner = ::geteuid();     ///< may use it, besides root
    OperatorGate* gate = nullptr;  ///< which requests need the passphrase; nullptr: none does
    AuditLog* audit = nullptr;     ///< of what is done; nullptr: nobody is told
  };

  explicit ControlServer(OperatorApi& api) : ControlServer(api, Options()) {}
  ControlServer(OperatorApi& api, Options options);
  /// Waits for the operations that run. Stop the HttpServer first.
  ~ControlServer();

  /// For HttpServer::listen_unix(). `this` must outlive the server.
  Handler handler();

 private:
  void take(ServerRequest request, Respond respond);

  OperatorApi& api_;
  const Options options_;
  std::unique_ptr<WorkerPool> pool_;
};

}  // namespace krux
