#include "host/operator/operator_gate.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <spdlog/spdlog.h>

#include <array>

#include "core/util/error.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr const char *kWrongAlert = "operator_passphrase_wrong", *kMissingAlert = "operator_passphrase_missing",
                     *kOperatorsAlert = "operators_changed";
/// A slip of the finger is none.
constexpr int kToldFrom = 3;

OperatorGrants::Holder holder_of(const Peer& peer) {
  return {peer.uid, peer.pid};
}

std::string user_name(uid_t uid) {
  passwd entry{}, *found = nullptr;
  std::array<char, 4096> buffer{};
  getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
  return found ? std::string(found->pw_name) : std::to_string(uid);
}

[[noreturn]] void ask_for_grant() {
  throw Error(ErrorCode::kNotAuthenticated,
              "This lets things happen: it needs the operator's passphrase, which POST /v1/operator/grant takes.")
      .with_context(R"({"needs":"grant"})");
}

}  // namespace

std::string operator_name(uid_t uid) {
  return operator_who(user_name(uid));
}

std::string host_user_name() {
  return user_name(::geteuid());
}

OperatorGate::OperatorGate(OperatorSecret& secret, AlertStore& alerts, const Clock& clock, const Options& options)
    : secret_(secret), alerts_(alerts), options_(options), grants_(secret, clock, options_.grants) {
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

DecidingOperator OperatorGate::asking(const ServerRequest& request) {
  const auto grant = request.header(kGrantHeader);
  const auto known = grant ? grants_.owner(*grant, holder_of(request.peer)) : std::nullopt;
  if (known) return {operator_who(known->name), known->operator_id};
  return operator_name(request.peer.uid);
}

void OperatorGate::must_be_operator(const ServerRequest& request, const DecidingOperator& by) const {
  if (!needs_passphrase() || is_root_besides(request.peer) || !by.operator_id.empty()) return;
  if (!secret_.status().is_set())
    throw conflict(
        "This lets things happen, which only the operator may, and no passphrase is set by which he is known. Set one: "
        "kruxos operator set-passphrase. Where no agent runs as this user: operator.agents_share_user: false")
        .with_context(R"({"needs":"passphrase_set"})");
  ask_for_grant();
}

void OperatorGate::must_be_known(const DecidingOperator& by) const {
  if (secret_.status().is_set() && by.operator_id.empty()) ask_for_grant();
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
    put_objects(out, "operators", secret_.list(), [&](const OperatorSecret::Named& one) {
      put(out, "name", one.name);
      put(out, "set_at_ms", one.set_at_ms);
      put(out, "added_at_ms", one.added_at_ms);
      put(out, "added_by", one.added_by);
    });
    out.EndObject();
  });
}

std::string OperatorGate::give_grant(const ServerRequest& request, const Secret& passphrase, const std::string& name) {
  if (request.peer.pid <= 0)
    throw Error(ErrorCode::kPolicyDenied,
                "The kernel does not say which process asks, so that nothing can be granted to it. Run the command "
                "where the host runs, in its namespace of processes.");
  const auto known = secret_.check(passphrase, OperatorSecret::Place::kSocket, name);
  const auto grant = grants_.give(holder_of(request.peer), known);
  spdlog::info("{} has shown his passphrase, in process {} of {}", operator_who(known.name), request.peer.pid,
               operator_name(request.peer.uid));
  return json_object([&](JsonWriter& out) {
    put(out, "grant", grant);
    put(out, "operator", known.name);
    put(out, "idle_ms", options_.grants.idle_ms);
  });
}

std::string OperatorGate::set_passphrase(const ServerRequest& request, const Secret& present, const Secret& wanted,
                                         const std::string& name, const std::string& who) {
  const bool was_set = secret_.status().is_set();
  secret_.set(present, wanted,
              is_root_besides(request.peer) ? OperatorSecret::Present::kNotNeeded : OperatorSecret::Present::kNeeded,
              name);
  alerts_.settle(kMissingAlert);
  alerts_.settle(kWrongAlert);
  spdlog::info("{} has {} the passphrase of {}, in process {}", who, was_set ? "changed" : "set",
               name.empty() ? "the operator" : operator_who(name), request.peer.pid);
  return status();
}

/// Whoever adds one could show both passphrases himself: the others hear of it.
std::string OperatorGate::add_operator(const std::string& name, const Secret& wanted, const std::string& who) {
  secret_.add(name, wanted, who);
  tell_of_operators(fmt::format("{} has added the operator {}, who accepts writes from now on.", who, name));
  return status();
}

std::string OperatorGate::remove_operator(const std::string& name, const std::string& who) {
  secret_.remove(name);
  tell_of_operators(
      fmt::format("{} has removed the operator {}. What he had accepted and has not gone out counts without him now.",
                  who, printable(name)));
  return status();
}

void OperatorGate::tell_of_operators(const std::string& sentence) {
  spdlog::warn("{}", sentence);
  alerts_.raise({"warning", kOperatorsAlert, "", "", "", sentence + " If you did not know of it, ask him why.", false});
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
