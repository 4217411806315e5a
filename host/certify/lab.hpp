// Where one check is made: the adapter, loaded as the host loads it, its fake service, and faults between them.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/adapter/call_runner.hpp"
#include "core/bundle/manifest.hpp"
#include "core/replica/replica.hpp"
#include "host/certify/check.hpp"
#include "host/certify/fault_transport.hpp"
#include "host/certify/kit_clock.hpp"
#include "host/certify/service_requests.hpp"
#include "host/runner/plugin_factory.hpp"

namespace krux::certify {

/// What all checks of a worker share.
struct Bench {
  BundleManifest manifest;
  std::shared_ptr<const ServiceDefinition> definition;
  const PluginRegistry* registry = nullptr;
  std::uint16_t port = 0;
  std::string token;
  std::filesystem::path scratch;
  std::shared_ptr<HttpTransport> transport;
  std::function<void(const std::string& where)> leak;  ///< the token stood there; any thread
  // Found out by the first check that needs it.
  std::optional<Identity> identity;
  std::shared_ptr<Replica> synced;
  std::uint64_t serial = 0;

  const BundleConformance& kit() const { return *manifest.conformance; }
};

struct CallOptions {
  std::int64_t deadline_ms = 10'000;
  std::string write_id;
  std::uint32_t attempt = 0;
  CallContext::Remember remember;
  std::function<void(const CallContextPtr&)> made;  ///< before the call runs
};

/// How one call ended.
template <class T>
struct CallAnswer {
  CallResult<T> result;
  std::int64_t ms = 0;  ///< real time

  const T* value() const { return std::get_if<T>(&result); }
  const CallFailure* failure() const { return std::get_if<CallFailure>(&result); }
};

/// "network: The connection was reset." as part of a sentence.
std::string in_words(const CallFailure& failure);
const char* status_word(krux_status status);

class Lab {
 public:
  explicit Lab(Bench& bench);
  ~Lab();
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  Bench& bench() { return bench_; }
  const ServiceDefinition& definition() const { return *bench_.definition; }
  KitClock& clock() { return clock_; }
  FaultTransport& faults() { return *faults_; }
  const ServiceRequests& service() const { return service_; }

  /// A new instance for the account, with an HTTP client that remembers nothing, as after a restart of the host.
  /// Throws CheckFailed.
  std::shared_ptr<ServiceAdapter> adapter();
  /// One that is not yet connected, for verify.
  std::shared_ptr<ServiceAdapter> stranger();

  /// Runs `body(call)` on a worker, as the host would. Throws CheckFailed when it does not return in time.
  template <class T, class Body>
  CallAnswer<T> call(std::string_view what, const CallOptions& options, Body body) {
    const auto context = make_call(options);
    const auto result = std::make_shared<CallResult<T>>(CallFailure{});
    if (options.made) options.made(context);
    const auto started = std::chrono::steady_clock::now();
    const auto end = runner_.run(context, nullptr, [context, result, body] { *result = body(context); });
    const auto took = std::chrono::steady_clock::now() - started;
    if (end == CallRunner::End::kAbandoned) throw_abandoned(what, options);
    context->end();
    watch_result(what, *result);
    return {std::move(*result), std::chrono::duration_cast<std::chrono::milliseconds>(took).count()};
  }

  std::shared_ptr<Replica> fresh_replica();
  /// One that was synced once, for reads and resolve; empty where the adapter has no sync role or its sync fails.
  std::shared_ptr<Replica> synced_replica();

  /// A text that no other check uses.
  std::string unique();
  Values values() const;

  /// Everything that comes from the adapter goes through here: the token must be in none of it. Any thread.
  void watch(std::string_view text, std::string_view where);

  /// What the check found out besides, for the report.
  void note(std::string text) { note_ = std::move(text); }
  const std::string& noted() const { return note_; }

 private:
  std::shared_ptr<ServiceAdapter> make(const std::string& account_id, std::uint32_t generation);
  CallContextPtr make_call(const CallOptions& options) const;
  [[noreturn]] void throw_abandoned(std::string_view what, const CallOptions& options) const;

  template <class T>
  void watch_result(std::string_view what, const CallResult<T>& result) {
    if (const auto* failure = std::get_if<CallFailure>(&result)) return watch(failure->message, what);
    if constexpr (std::is_same_v<T, std::string>) watch(std::get<T>(result), what);
    if constexpr (std::is_same_v<T, EffectFound>) watch(std::get<T>(result).result_json, what);
    if constexpr (std::is_same_v<T, Identity>) watch(std::get<T>(result).display_name, what);
  }

  Bench& bench_;
  KitClock clock_;
  CallRunner runner_;
  std::shared_ptr<FaultTransport> faults_;
  ServiceRequests service_;
  PluginFactory factory_;
  std::string note_;
};

/// "http://127.0.0.1:1234/api/" and its root, "http://127.0.0.1:1234".
std::string base_url_of(const BundleConformance& kit, std::uint16_t port);
std::string root_of(const std::string& base_url);
/// The account's setting that the definition's `auth` section names; empty: none.
std::string auth_user_of(const ServiceDefinition& definition, const BundleConformance& kit);
/// Throws CheckFailed where the token is none that the definition's `auth` section can send.
Authorization authorization_for(const ServiceDefinition& definition, const BundleConformance& kit,
                                const std::string& token);

}  // namespace krux::certify
