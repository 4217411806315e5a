// What the bridge's tests lend to adapters, and the adapters themselves, made once for the whole program.
#pragma once

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/adapter/call_runner.hpp"
#include "core/net/http.hpp"
#include "core/replica/sync_session.hpp"
#include "core/util/clock.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "host/plugins/testdata/plugin_dir.hpp"
#include "host/runner/adapter_runners.hpp"
#include "host/runner/plugin_factory.hpp"

namespace krux::test {

class FakeReader final : public ReplicaReader {
 public:
  std::vector<std::pair<std::string, std::string>> rows;  ///< id, json; the last one first
  std::map<std::string, std::string, std::less<>> blobs;  ///< by id and name
  Query last;

  bool get(std::string_view, std::string_view id, const OnRow& on_row) override {
    for (const auto& [key, json] : rows) {
      if (key == id) return on_row({key, json, 1, 2}), true;
    }
    return false;
  }
  QueryResult query(const Query& query, const OnRow& on_row) override {
    if (query.collection == "broken") throw database_error("The disk is full.");
    last = query;
    for (const auto& [key, json] : rows) {
      if (!on_row({key, json, 1, 2})) break;
    }
    return {rows.size(), false, false};
  }
  bool blob(std::string_view, std::string_view id, std::string_view name,
            const std::function<bool(std::string_view)>& on_part) override {
    const auto found = blobs.find(std::string(id) + " " + std::string(name));
    return found != blobs.end() && (on_part(found->second), true);
  }
  bool keep(std::string_view collection, std::string_view id, const KeptBlob& blob, std::string_view text) override {
    if (!lent_for_fetching) return ReplicaReader::keep(collection, id, blob, text);
    if (!get(collection, id, [](const RowView&) { return true; })) return false;
    texts[std::string(id)] = text;
    if (blob.source) blobs[std::string(id) + " " + blob.name] = read_all(blob.source);
    return true;
  }

  std::string put_fetched(Record record, std::string_view too_large) override {
    if (!lent_for_fetching) return ReplicaReader::put_fetched(std::move(record), too_large);
    if (!too_large.empty()) return std::string(too_large);
    if (!get(record.collection, record.id, [](const RowView&) { return true; }))
      rows.emplace_back(record.id, record.json);
    return {};
  }

  bool lent_for_fetching = false;
  std::map<std::string, std::string, std::less<>> texts;  ///< kept ones, by id

  static std::string read_all(const std::function<std::int64_t(char*, std::size_t)>& source) {
    std::string bytes;
    char buffer[16];
    for (std::int64_t got = 0; (got = source(buffer, sizeof(buffer))) > 0;)
      bytes.append(buffer, static_cast<std::size_t>(got));
    return bytes;
  }
};

class FakeSession final : public SyncSession {
 public:
  std::vector<Record> put_records, committed;
  std::map<std::string, std::string, std::less<>> cursors;
  std::vector<std::string> reports, sweeps, erased, left_out;
  std::shared_ptr<FakeReader> fake_reader = std::make_shared<FakeReader>();

  std::string put(Record record) override {
    if (!is_json_object(record.json)) {
      leave_out(std::move(record), "its json is no object");
      return "its json is no object";
    }
    put_records.push_back(std::move(record));
    return {};
  }
  void erase_blob(std::string_view, std::string_view id, std::string_view name) override {
    fake_reader->blobs.erase(std::string(id) + " " + std::string(name));
  }
  void leave_out(Record record, std::string_view why) override {
    left_out.push_back(record.collection + " " + record.id + ": " + std::string(why));
  }
  void erase(std::string_view, std::string_view id) override {
    erased.emplace_back(id);
    std::erase_if(put_records, [&](const auto& record) { return record.id == id; });
  }
  void sweep(std::string_view collection, std::string_view scope, std::int64_t generation, std::int64_t from_ms,
             std::int64_t to_ms) override {
    using Limits = std::numeric_limits<std::int64_t>;
    auto text = std::string(collection) + " " + std::string(scope) + " " + std::to_string(generation);
    if (from_ms != Limits::min() || to_ms != Limits::max()) {
      text += " " + std::to_string(from_ms) + " " + std::to_string(to_ms);
    }
    sweeps.push_back(text);
    std::erase_if(committed, [&](const auto& record) { return record.generation < generation; });
  }
  void put_blob(std::string_view, std::string_view id, std::string_view name, std::int64_t,
                const std::function<std::int64_t(char*, std::size_t)>& source) override {
    fake_reader->blobs[std::string(id) + " " + std::string(name)] = FakeReader::read_all(source);
  }
  void keep_text(std::string_view, std::string_view id, std::string_view text) override {
    fake_reader->texts[std::string(id)] = text;
  }
  std::optional<std::string> cursor(std::string_view key) override {
    const auto found = cursors.find(key);
    return found == cursors.end() || found->second.empty() ? std::nullopt : std::optional(found->second);
  }
  void set_cursor(std::string_view key, std::string_view value) override {
    cursors.insert_or_assign(std::string(key), value);
  }
  void commit() override {
    for (auto& record : put_records) {
      fake_reader->rows.emplace_back(record.id, record.json);
      committed.push_back(std::move(record));
    }
    put_records.clear();
  }
  void report(std::string_view part, krux_status status, std::string_view message) override {
    reports.push_back(std::string(part) + " " + std::to_string(status) + " " + std::string(message));
  }
  const std::shared_ptr<ReplicaReader>& reader() override { return reader_; }
  void close() override {}

 private:
  std::shared_ptr<ReplicaReader> reader_ = fake_reader;
};

/// One upload, "up_1", for every call of a write.
class FakeUploads final : public UploadReader {
 public:
  std::string bytes = std::string(2'500'000, 'u') + "end";
  std::size_t read(const CallContext& call, std::string_view id, std::uint64_t offset, char* buffer,
                   std::size_t size) override {
    if (call.owner().write_id.empty() || id != "up_1") throw invalid_input("It is not this write's.");
    return offset > bytes.size() ? 0 : bytes.copy(buffer, size, offset);
  }
};

/// Answers from a function; keeps to the call as the real one does.
class FakeHttp final : public HttpClient {
 public:
  std::function<std::pair<int, std::string>(const HttpRequest&)> answer = [](const HttpRequest&) {
    return std::pair(200, std::string("ok"));
  };
  bool lose_answers = false;

  HttpOutcome send(const CallContextPtr& call, const HttpRequest& request, HttpSink& sink) override {
    if (!request.safe() && !call->begin_unsafe_request()) return {KRUX_CANCELLED, "The call has ended.", std::nullopt};
    auto seen = request;
    char buffer[16];
    for (std::int64_t got = 0; seen.body_source && (got = seen.body_source(buffer, sizeof(buffer))) > 0;) {
      seen.body.append(buffer, static_cast<std::size_t>(got));
    }
    std::pair<int, std::string> said;
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(seen);
      said = answer(seen);
    }
    if (lose_answers) return {KRUX_NETWORK, "The connection was reset.", std::nullopt};
    if (!request.safe() && said.first < 500) call->request_answered();
    const bool taken = sink.head(said.first, {{"Content-Type", "text/plain"}}) && sink.body(said.second);
    return taken ? HttpOutcome{} : HttpOutcome{KRUX_CANCELLED, "The adapter stopped.", std::nullopt};
  }
  std::vector<HttpRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<HttpRequest> requests_;
};

/// The plugins of the bridge's tests, discovered once for each place where they may run.
inline const PluginRegistry& registry(Isolation isolation = Isolation::kInProcess) {
  static const PluginDir dir;
  static const bool filled = [] {
    for (const auto* name : {"stray_adapter", "truncated_write", "null_write", "unruly_adapter"}) dir.add(name);
    // The mock adapter of an earlier release, where a test names one.
    if (const auto* golden = std::getenv("KRUXOS_GOLDEN_ADAPTER")) {
      dir.copy(golden, "mock_adapter");
    } else {
      dir.add("mock_adapter");
    }
    dir.copy(KRUXOS_NOTES_PLUGIN, "notes");
    return true;
  }();
  static_cast<void>(filled);
  if (isolation == Isolation::kProcess) {
    static const auto remote = PluginRegistry::discover(dir.path(), options(), {Isolation::kProcess, {}});
    return remote;
  }
  static const auto here = PluginRegistry::discover(dir.path(), options());
  return here;
}

/// A test that calls this runs twice: with its adapter in this process, and in one of its own.
inline Isolation either() {
  return GENERATE(Isolation::kInProcess, Isolation::kProcess);
}

/// A clock, a runner, and adapters made with them. Everything that an adapter logs is kept.
struct Bridge {
  explicit Bridge(Isolation where = Isolation::kInProcess) : isolation(where) {}

  const Isolation isolation;
  SystemClock clock;
  CallRunner runner{clock, {4, 16, 50}};
  std::shared_ptr<FakeHttp> http = std::make_shared<FakeHttp>();
  mutable FakeUploads uploads;
  std::shared_ptr<FakeReader> reader = std::make_shared<FakeReader>();
  std::shared_ptr<FakeSession> session = std::make_shared<FakeSession>();
  std::vector<std::string> log;
  AdapterLog keep_log = [this](int level, const std::string& service, const std::string&, std::string_view line) {
    log.push_back(std::to_string(level) + " " + service + " " + std::string(line));
  };
  AdapterRunners runners{registry(isolation), clock, {KRUXOS_PLUGIN_RUNNER, {}, keep_log, 30'000}, {}};
  PluginFactory factory{registry(isolation), runner, clock, keep_log, 30'000, &runners};

  AdapterSetup setup(const std::string& service) const {
    return {service, "T1", 1, std::vector<std::string>{"a\"b"}, "{}", http, &uploads};
  }
  std::shared_ptr<ServiceAdapter> make(const std::string& service) const { return factory.make(setup(service)); }

  CallContextPtr call(const std::string& write_id = {}, CallContext::Remember remember = {}) const {
    return std::make_shared<CallContext>(CallOwner{"mock", "T1", 1, write_id, write_id.empty() ? 0u : 1u}, clock,
                                         clock.boot_ms() + 60'000, std::move(remember));
  }
};

template <class T>
T good(CallResult<T> result) {
  if (auto* failure = std::get_if<CallFailure>(&result)) throw std::runtime_error(failure->message);
  return std::get<T>(std::move(result));
}

template <class T>
CallFailure failed(CallResult<T> result) {
  if (auto* failure = std::get_if<CallFailure>(&result)) return *failure;
  throw std::runtime_error("it did not fail");
}

}  // namespace krux::test
