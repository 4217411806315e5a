// The documents of clients that sign in, fetched beside the gateway's other work. Internal to the gateway.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "core/sign_in/client_documents.hpp"
#include "host/http/worker_pool.hpp"

namespace krux {

/// Any thread. A document is fetched once at a time, whoever asks, and for one address a few: who names slow servers
/// holds up nobody else.
class DocumentFetches {
 public:
  explicit DocumentFetches(ClientDocuments& documents) : documents_(documents), threads_(kThreads, kMostQueued) {}
  DocumentFetches(const DocumentFetches&) = delete;
  DocumentFetches& operator=(const DocumentFetches&) = delete;

  using Outcome = std::variant<SignInClient, SignInRefused>;
  using Fetched = std::function<void(const Outcome&)>;
  enum class Begun { kYes, kTooManyOfPeer, kTooMany };
  /// Where it has begun, `fetched` runs later, on a thread of its own, which is to be given back soon. `peer` is the
  /// address that asks.
  Begun fetch(const std::string& client_id, const std::string& peer, Fetched fetched);

  static constexpr int kThreads = 4;
  static constexpr std::size_t kMostQueued = 16, kMostOfPeer = 2, kMostWaiting = 64;

 private:
  struct Fetch {
    std::string peer;  ///< that began it
    std::vector<Fetched> waiting;
  };
  void work(const std::string& client_id);
  std::size_t of_peer(const std::string& peer) const;

  ClientDocuments& documents_;
  std::mutex mutex_;
  std::map<std::string, Fetch> under_way_;  ///< by client_id
  // The last member: its threads use the others.
  WorkerPool threads_;
};

}  // namespace krux
