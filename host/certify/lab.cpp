#include "host/certify/lab.hpp"

#include <fmt/format.h>

#include "core/bundle/placeholders.hpp"
#include "core/net/account_http.hpp"
#include "core/net/url.hpp"
#include "core/util/error.hpp"
#include "core/util/ids.hpp"
#include "core/util/text.hpp"
#include "host/certify/sync_trial.hpp"

namespace krux::certify {
namespace {

/// How long an adapter may take to return after cancelled() has turned true.
constexpr std::int64_t kGraceMs = 1'500;
constexpr std::uint32_t kGeneration = 1;

}  // namespace

const char* status_word(krux_status status) {
  switch (status) {
    case KRUX_OK:
      return "ok";
    case KRUX_AUTH:
      return "auth";
    case KRUX_RATE_LIMITED:
      return "rate limited";
    case KRUX_NETWORK:
      return "network";
    case KRUX_REFUSED:
      return "refused";
    case KRUX_INVALID:
      return "invalid";
    case KRUX_STORAGE:
      return "storage";
    case KRUX_CANCELLED:
      return "cancelled";
    case KRUX_UNSUPPORTED:
      return "unsupported";
    case KRUX_TIMEOUT:
      return "timeout";
    case KRUX_NOT_FOUND:
      return "not found";
    case KRUX_UNAVAILABLE:
      return "unavailable";
    case KRUX_CURSOR_EXPIRED:
      return "cursor expired";
    case KRUX_CONFLICT:
      return "conflict";
    default:
      return "internal";
  }
}

std::string in_words(const CallFailure& failure) {
  return fmt::format("{}{}: {}", status_word(failure.status), failure.effect_none ? " (no effect)" : "",
                     failure.message);
}

std::string base_url_of(const BundleConformance& kit, std::uint16_t port) {
  return fill_placeholders(kit.api_base_url, [&](std::string_view name) {
    return name == "port" ? std::optional(std::to_string(port)) : std::nullopt;
  });
}

std::string root_of(const std::string& base_url) {
  return parse_base_url(base_url).origin();
}

std::string auth_user_of(const ServiceDefinition& definition, const BundleConformance& kit) {
  const auto user = kit.settings.find(definition.auth.user);
  return user == kit.settings.end() ? "" : user->second;
}

Authorization authorization_for(const ServiceDefinition& definition, const BundleConformance& kit,
                                const std::string& token) {
  auto made = authorization_of(definition.auth, auth_user_of(definition, kit), token);
  if (made) return *std::move(made);
  throw CheckFailed("The manifest's token is none that the definition's `auth` section can send.",
                    "Give `conformance` a `token` of that form, and the `settings` that `auth` names.");
}

Lab::Lab(Bench& bench)
    : bench_(bench),
      runner_(clock_, {8, 64, kGraceMs}),
      faults_(std::make_shared<FaultTransport>(bench.transport, bench.token)),
      service_(bench.transport, root_of(base_url_of(bench.kit(), bench.port)),
               authorization_for(*bench.definition, bench.kit(), bench.token)),
      factory_(*bench.registry, runner_, clock_,
               [this](int, const std::string&, const std::string&, std::string_view line) { watch(line, "its log"); }) {
}

Lab::~Lab() {
  faults_->clear();
}

void Lab::watch(std::string_view text, std::string_view where) {
  if (text.find(bench_.token) != std::string_view::npos) bench_.leak(std::string(where));
}

std::shared_ptr<ServiceAdapter> Lab::make(const std::string& account_id, std::uint32_t generation) {
  const auto base = base_url_of(bench_.kit(), bench_.port);
  AccountHooks hooks;
  hooks.token = [token = bench_.token, origin = root_of(base)]() -> std::optional<BoundToken> {
    return BoundToken{make_secret(token), origin};
  };
  AccountHttpOptions options;
  options.service = definition().service;
  options.api_base_url = base;
  options.hosts = definition().hosts;
  options.auth = definition().auth;
  options.auth_user = auth_user_of(definition(), bench_.kit());
  options.safe_posts = definition().safe_posts;
  AdapterSetup setup;
  setup.service = definition().service;
  setup.account_id = account_id;
  setup.generation = generation;
  setup.config_json = bench_.kit().config_json;
  setup.base_url = base;
  setup.settings = bench_.kit().settings;
  if (bench_.identity && bench_.identity->scopes_known && !account_id.empty()) setup.scopes = bench_.identity->scopes;
  setup.http = std::make_shared<AccountHttp>(std::move(options), faults_, clock_, std::move(hooks));
  try {
    return factory_.make(setup);
  } catch (const Error& error) {
    watch(error.what(), "an error message");
    throw CheckFailed(fmt::format("The adapter could not be made: {}", error.what()),
                      "See the constructor, and `config` in the manifest.");
  }
}

std::shared_ptr<ServiceAdapter> Lab::stranger() {
  return make("", 0);
}

std::shared_ptr<ServiceAdapter> Lab::adapter() {
  if (!bench_.identity) {
    const auto unknown = stranger();
    Identity identity;
    identity.account_id = "certify";
    if (unknown->roles().account) {
      const auto said = call<Identity>("verify", {}, [unknown](const auto& c) { return unknown->ask<"verify">(c); });
      if (said.value()) identity = *said.value();
    }
    bench_.identity = identity;
  }
  return make(bench_.identity->account_id, kGeneration);
}

CallContextPtr Lab::make_call(const CallOptions& options) const {
  CallOwner owner{definition().service, bench_.identity ? bench_.identity->account_id : "", kGeneration,
                  options.write_id, options.attempt};
  owner.agent = "agent_1";
  return std::make_shared<CallContext>(std::move(owner), clock_, clock_.boot_ms() + options.deadline_ms,
                                       options.remember);
}

void Lab::throw_abandoned(std::string_view what, const CallOptions& options) const {
  throw CheckFailed(fmt::format("{} had not returned {} ms after cancelled() turned true (its deadline was {} ms).",
                                what, kGraceMs, options.deadline_ms),
                    "Ask call.cancelled() in every loop, and wait for nothing but the host's HTTP client.");
}

std::shared_ptr<Replica> Lab::fresh_replica() {
  const auto* plugin = bench_.registry->find(definition().service);
  const auto file = bench_.scratch / fmt::format("replica-{}.db", ++bench_.serial);
  return std::make_shared<Replica>(file, plugin->collections, clock_);
}

std::shared_ptr<Replica> Lab::synced_replica() {
  if (bench_.synced) return bench_.synced;
  const auto* plugin = bench_.registry->find(definition().service);
  // Of the worker, not of this check: it outlives the check's clock.
  static const SystemClock clock;
  bench_.synced = std::make_shared<Replica>(bench_.scratch / "synced.db", plugin->collections, clock);
  const auto mine = adapter();
  if (!mine->roles().sync) return bench_.synced;
  try {
    SyncTrial(*this, bench_.synced, mine).settle();
  } catch (const CheckFailed&) {  // the checks of the sync say so
  }
  return bench_.synced;
}

std::string Lab::unique() {
  return fmt::format("{}{}", random_hex(3), ++bench_.serial);
}

Values Lab::values() const {
  return {{"port", std::to_string(bench_.port)}, {"token", bench_.token}};
}

}  // namespace krux::certify
