#include "host/operator/operator_gate.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/util/error.hpp"
#include "core/util/json_out.hpp"

namespace krux {
namespace {

constexpr const char *kWrongAlert = "operator_passphrase_wrong", *kMissingAlert = "operator_passphrase_missing";
/// A slip of the finger is none.
constexpr int kToldFrom = 3;

OperatorGrants::Holder holder_of(const Peer& peer) {
  return {peer.uid, peer.pid};
}

}  // namespace

OperatorGate::OperatorGate(OperatorSecret& secret, AlertStore& alerts, const Clock& clock, const Options& options)
    : secret_(secret), alerts_(alerts), options_(options), grants_(clock, options_.grants) {
  secret_.when_wrong([this](OperatorSecret::Place place, int in_a_row) { tell_of_wrong(place, in_a_row); });
  if (needs_passphrase() || options_.agents_share_user) {
    alerts_.settle(kMissingAlert);
    return;
  }
  alerts_.raise({"warning", kMissingAlert, "", "", "",
                 "Every program of the user that runs this host can accept writes, also an agent. Set a passphrase: "
                 "kruxos operator set-passphrase. Where no agent runs as this user, say so: "
                 "operator.agents_share_user: false.",
                 true});
}

bool OperatorGate::needs_passphrase() const {
  if (options_.agents_share_user) return *options_.agents_share_user;
  const auto status = secret_.status();
  return status.is_set() || !status.of_before;
}

/// Root can do everything anyway; where the host runs as root its agents may as well, and root is nobody special.
bool OperatorGate::is_root_besides(const Peer& peer) const {
  return peer.uid == 0 && options_.owner != 0;
}

void OperatorGate::must_be_operator(const ServerRequest& request) {
  if (!needs_passphrase() || is_root_besides(request.peer)) return;
  if (!secret_.status().is_set())
    throw conflict(
        "This lets things happen, which only the operator may, and no passphrase is set by which he is known. Set one: "
        "kruxos operator set-passphrase. Where no agent runs as this user: operator.agents_share_user: false")
        .with_context(R"({"needs":"passphrase_set"})");
  const auto grant = request.header(kGrantHeader);
  if (grant && grants_.holds(*grant, holder_of(request.peer), secret_.status().set_at_ms)) return;
  throw Error(ErrorCode::kNotAuthenticated,
              "This lets things happen: it needs the operator's passphrase, which POST /v1/operator/grant takes.")
      .with_context(R"({"needs":"grant"})");
}

void OperatorGate::keep(const ServerRequest& request) {
  if (const auto grant = request.header(kGrantHeader))
    grants_.holds(*grant, holder_of(request.peer), secret_.status().set_at_ms);
}

std::string OperatorGate::status() {
  const auto status = secret_.status();
  const bool needed = needs_passphrase();
  return json_object([&](JsonWriter& out) {
    put_key(out, "operator");
    out.StartObject();
    put(out, "passphrase_set", status.is_set());
    put(out, "set_at_ms", status.set_at_ms);
    put(out, "needs_passphrase", needed);
    put_key(out, "agents_share_user");
    options_.agents_share_user ? out.Bool(*options_.agents_share_user) : out.Null();
    put(out, "of_before", status.of_before);
    put(out, "grant_idle_ms", options_.grants.idle_ms);
    put(out, "next_try_in_ms", secret_.wait_ms(OperatorSecret::Place::kSocket));
    out.EndObject();
  });
}

std::string OperatorGate::give_grant(const ServerRequest& request, const Secret& passphrase, const std::string& who) {
  if (request.peer.pid <= 0)
    throw Error(ErrorCode::kPolicyDenied,
                "The kernel does not say which process asks, so that nothing can be granted to it. Run the command "
                "where the host runs, in its namespace of processes.");
  const auto checked = secret_.check(passphrase, OperatorSecret::Place::kSocket);
  const auto grant = grants_.give(holder_of(request.peer), checked);
  spdlog::info("{} has shown the passphrase, in process {}", who, request.peer.pid);
  return json_object([&](JsonWriter& out) {
    put(out, "grant", grant);
    put(out, "idle_ms", options_.grants.idle_ms);
  });
}

std::string OperatorGate::set_passphrase(const ServerRequest& request, const Secret& present, const Secret& wanted,
                                         const std::string& who) {
  const bool was_set = secret_.status().is_set();
  secret_.set(present, wanted,
              is_root_besides(request.peer) ? OperatorSecret::Present::kNotNeeded : OperatorSecret::Present::kNeeded);
  alerts_.settle(kMissingAlert);
  alerts_.settle(kWrongAlert);
  spdlog::info("{} has {} the operator's passphrase, in process {}", who, was_set ? "changed" : "set",
               request.peer.pid);
  return status();
}

void OperatorGate::tell_of_wrong(OperatorSecret::Place place, int in_a_row) {
  const auto* where = place == OperatorSecret::Place::kSocket ? "at the operator's socket" : "on the approvals page";
  spdlog::warn("the operator's passphrase was given wrong {}, {} times in a row", where, in_a_row);
  if (in_a_row < kToldFrom) return;
  alerts_.raise({"warning", kWrongAlert, "", "", "",
                 fmt::format("The operator's passphrase was given wrong {}, several times in a row. If that was not "
                             "you, a program on this machine tries to decide in your place.",
                             where),
                 true});
}

}  // namespace krux
