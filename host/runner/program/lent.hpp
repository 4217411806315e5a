// What the host lends, seen from within the runner: core's interfaces, each function a request to the host.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>

#include "core/adapter/call.hpp"
#include "core/net/http.hpp"
#include "core/replica/sync_session.hpp"
#include "core/upload/upload_reader.hpp"
#include "host/runner/program/link.hpp"

namespace krux::runner {

/// One call in this process. What it asks of the replica goes one after the other, as the host takes it; a callback
/// may ask again.
struct RunningCall {
  std::uint64_t id = 0;
  CallContextPtr context;
  std::recursive_mutex replica;
  std::counting_semaphore<> exchanges{kMostExchanges};
};
using RunningCallPtr = std::shared_ptr<RunningCall>;

/// The calls that run, for HTTP, which names them by their context.
class RunningCalls {
 public:
  void add(const RunningCallPtr& call);
  void remove(const RunningCall& call);
  RunningCallPtr of(const CallContext* context) const;  ///< nullptr: it has ended
  void cancel(std::uint64_t id);

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, RunningCallPtr> calls_;
};

class LentReplicaReader final : public ReplicaReader {
 public:
  LentReplicaReader(Link& link, RunningCallPtr call) : link_(link), call_(std::move(call)) {}
  bool get(std::string_view collection, std::string_view id, const OnRow& on_row) override;
  QueryResult query(const Query& query, const OnRow& on_row) override;
  bool blob(std::string_view collection, std::string_view id, std::string_view name,
            const std::function<bool(std::string_view)>& on_bytes) override;
  bool keep(std::string_view collection, std::string_view id, const KeptBlob& blob, std::string_view text) override;
  std::string put_fetched(Record record, std::string_view too_large) override;

 private:
  Link& link_;
  const RunningCallPtr call_;
};

class LentSyncSession final : public SyncSession {
 public:
  LentSyncSession(Link& link, RunningCallPtr call);
  std::string put(Record record) override;
  void erase_blob(std::string_view collection, std::string_view id, std::string_view name) override;
  void leave_out(Record record, std::string_view why) override;
  void keep_text(std::string_view collection, std::string_view id, std::string_view text) override;
  void erase(std::string_view collection, std::string_view id) override;
  void sweep(std::string_view collection, std::string_view scope, std::int64_t generation, std::int64_t from_ms,
             std::int64_t to_ms) override;
  void put_blob(std::string_view collection, std::string_view id, std::string_view name, std::int64_t total,
                const std::function<std::int64_t(char*, std::size_t)>& source) override;
  std::optional<std::string> cursor(std::string_view key) override;
  void set_cursor(std::string_view key, std::string_view value) override;
  void commit() override;
  void report(std::string_view part, krux_status status, std::string_view message) override;
  const std::shared_ptr<ReplicaReader>& reader() override { return reader_; }
  void close() override {}  // the host closes its own

 private:
  WireAnswer ask(const WireWriter& payload);

  Link& link_;
  const RunningCallPtr call_;
  const std::shared_ptr<ReplicaReader> reader_;
};

/// Of all adapters: the host knows by the call whose client it is.
class LentHttpClient final : public HttpClient {
 public:
  LentHttpClient(Link& link, const RunningCalls& calls) : link_(link), calls_(calls) {}
  HttpOutcome send(const CallContextPtr& call, const HttpRequest& request, HttpSink& sink) override;

 private:
  HttpOutcome exchange(std::uint64_t call, const HttpRequest& request, HttpSink& sink);
  HttpOutcome carry(std::uint64_t call, const HttpRequest& request, HttpSink& sink);

  Link& link_;
  const RunningCalls& calls_;
};

/// Of all adapters, as LentHttpClient.
class LentUploadReader final : public UploadReader {
 public:
  LentUploadReader(Link& link, const RunningCalls& calls) : link_(link), calls_(calls) {}
  std::size_t read(const CallContext& call, std::string_view upload_id, std::uint64_t offset, char* buffer,
                   std::size_t size) override;

 private:
  Link& link_;
  const RunningCalls& calls_;
};

/// For CallContext::Remember.
bool remember(Link& link, RunningCall& call, std::string_view note_json);
/// What `known` has, and functions that ask the host. Not to be used after `call`, whose context may hold it.
std::shared_ptr<const ReadDialogue> dialogue_of(Link& link, RunningCall& call, ReadDialogue known);

}  // namespace krux::runner
