// The host's side of the plugin boundary for an adapter's unit tests: a driven time, a scripted HTTP, a replica in
// memory. Everything is observable, and most of it can be made to fail. One thread.
#pragma once

#include <kruxos/adapter.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace support {

/// Unix milliseconds, moved by the test.
struct FakeClock {
  std::int64_t now_ms = 1'700'000'000'000;
  void advance(std::int64_t ms) { now_ms += ms; }
};

struct FakeRequest {
  std::string method, url, body;
  kruxos::Headers headers;
};

/// What the host's HTTP client answers: a complete response, or with `error` a failed exchange.
struct FakeAnswer {
  int status = 200;
  std::string body;
  kruxos::Headers headers;
  std::optional<kruxos::ErrorKind> error;
  std::string message;
  std::int64_t retry_after_ms = -1;

  static FakeAnswer failed(kruxos::ErrorKind kind, std::string why = "it failed", std::int64_t retry_after_ms = -1) {
    return {0, {}, {}, kind, std::move(why), retry_after_ms};
  }
};

/// One running call.
class FakeCall {
 public:
  explicit FakeCall(const FakeClock& clock);
  FakeCall(const FakeCall&) = delete;
  FakeCall& operator=(const FakeCall&) = delete;

  kruxos::Call call() const { return kruxos::Call(&abi_); }
  const krux_call* abi() const { return &abi_; }
  void belongs_to(std::string write_id, std::uint32_t attempt);

  bool cancelled = false;
  std::vector<std::string> notes;  ///< what the adapter asked to remember
  struct Failure {
    krux_status status = KRUX_OK;
    std::int32_t effect = KRUX_EFFECT_MAYBE;
    std::string type, message;
    std::int64_t retry_after_ms = -1;
  };
  std::optional<Failure> failure;  ///< the first word

 private:
  const FakeClock& clock_;
  std::string write_id_;
  krux_call abi_{};
};

/// What is lent for an adapter's whole life.
class FakeHost {
 public:
  FakeHost();
  FakeHost(const FakeHost&) = delete;
  FakeHost& operator=(const FakeHost&) = delete;

  kruxos::Host host() const { return kruxos::Host(&abi_); }
  const krux_host* abi() const { return &abi_; }

  FakeClock clock;
  std::function<FakeAnswer(const FakeRequest&)> on_request;  ///< not set: nothing can be reached
  std::vector<FakeRequest> requests;                         ///< all of them, in order
  std::vector<std::string> log;

 private:
  krux_status answer(const krux_http_request* request, const krux_http_answer* out);
  krux_http_client http_{};
  krux_log log_table_{};
  krux_host abi_{};
};

/// One account's replica. Conditions are evaluated naively; text is folded in its ASCII letters alone.
class FakeStore {
 public:
  FakeStore(const FakeClock& clock, std::vector<kruxos::Collection> collections);
  FakeStore(const FakeStore&) = delete;
  FakeStore& operator=(const FakeStore&) = delete;

  struct Row {
    std::string json, text, order_key, scope;
    std::int64_t order_ms = 0, generation = 0, synced_at_ms = 0;
    std::map<std::string, kruxos::Value, std::less<>> fields;
  };
  using Rows = std::map<std::string, Row>;  ///< by id
  struct Report {
    krux_status status = KRUX_OK;
    std::string message;
  };

  kruxos::SyncStore store() const { return kruxos::SyncStore(&store_); }
  kruxos::Reader reader() const { return kruxos::Reader(&reader_); }
  const krux_sync_store* abi() const { return &store_; }

  /// As the host does when a step has returned: what was not committed never happened.
  void drop_uncommitted() { staged_.clear(); }

  const Rows& rows(const std::string& collection) const { return rows_.at(collection); }
  std::map<std::string, std::string> cursors;  ///< committed ones; a test may change them
  std::map<std::string, Report> reports;       ///< parts that could not be synced
  std::uint64_t commits = 0, cursor_reads = 0, queries = 0, largest_commit = 0;

  /// What put() and commit() answer instead of doing it, when set and not KRUX_OK.
  std::function<krux_status(const krux_record&)> refuse_put;
  std::function<krux_status()> refuse_commit;

 private:
  using Change = std::function<void()>;
  void fill_reader();
  void fill_changes();
  void fill_cursors();
  krux_status put(const krux_record* record);
  krux_status commit();
  krux_status get(krux_str collection, krux_str id, const krux_row_sink* out);
  krux_status query(const krux_query* query, const krux_row_sink* out, krux_query_result* result);
  bool fits(const krux_record& record, const kruxos::Collection& collection) const;
  void sweep(const std::string& collection, const std::string& scope, std::int64_t generation, std::int64_t from_ms,
             std::int64_t to_ms);
  const kruxos::Collection* collection(std::string_view name) const;

  const FakeClock& clock_;
  const std::vector<kruxos::Collection> collections_;
  std::map<std::string, Rows> rows_;
  std::vector<Change> staged_;
  krux_reader reader_{};
  krux_sync_store store_{};
};

}  // namespace support
