// A host for the tests of the operator's side: answers what the test lays out, and notes what it was asked.
#pragma once

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "host/operator/operator_api.hpp"

namespace krux::test {

class FakeOperator : public OperatorApi {
 public:
  /// What a call answers, by what it is asked as asked() has it, by its name and first argument ("agent alice"), else
  /// by its name; "{}" without any.
  std::map<std::string, std::string> answers;
  /// Thrown by the call of that name.
  std::map<std::string, Error> errors;

  std::vector<std::string> asked() {
    const std::lock_guard lock(mutex_);
    return std::exchange(asked_, {});
  }

  std::string status() override { return call("status"); }
  std::string config() override { return call("config"); }
  std::string agents() override { return call("agents"); }
  std::string agent(const std::string& name) override { return call("agent", name); }
  std::string create_agent(const std::string& name, const std::string& who) override {
    return call("create_agent", name, who);
  }
  std::string rotate_agent(const std::string& name, std::int64_t grace_ms, const std::string& who) override {
    return call("rotate_agent", grace_ms == 0 ? name : name + " grace " + std::to_string(grace_ms / 1000) + " s", who);
  }
  std::string revoke_agent(const std::string& name, const std::string& who) override {
    return call("revoke_agent", name, who);
  }
  std::string pause_agent(const std::string& name, const std::string& reason, const std::string& who) override {
    return call("pause_agent", name, (reason.empty() ? "" : reason + " ") + who);
  }
  std::string resume_agent(const std::string& name, const std::string& who) override {
    return call("resume_agent", name, who);
  }
  std::string pause_all(const std::string& reason, const std::string& who) override {
    return call("pause_all", reason, who);
  }
  std::string resume_all(const std::string& who) override { return call("resume_all", who); }
  std::string sign_in() override { return call("sign_in"); }
  std::string sign_in_request(const std::string& code) override { return call("sign_in_request", code); }
  std::string accept_sign_in(const std::string& code, const std::string& agent, const std::string& who) override {
    return call("accept_sign_in", code, agent + " " + who);
  }
  std::string reject_sign_in(const std::string& code, const std::string& who) override {
    return call("reject_sign_in", code, who);
  }
  std::string end_sign_in(const std::string& grant_id, const std::string& who) override {
    return call("end_sign_in", grant_id, who);
  }
  std::string connections() override { return call("connections"); }
  std::string connection(const std::string& service) override { return call("connection", service); }
  std::string connect(const std::string& service, const Secret& token, const std::string& account,
                      const AccountOwn& own, const std::string& who) override {
    return call(
        "connect", service,
        std::string(token.reveal()) + (account.empty() ? "" : " account=" + account) + in_words(own) + " " + who);
  }
  static std::string in_words(const AccountOwn& own) {
    auto words = own.base_url.empty() ? "" : " at " + own.base_url;
    for (const auto& [name, value] : own.settings) words.append(" ").append(name).append("=").append(value);
    return words;
  }
  std::string begin_oauth(const std::string& service, OAuthBegin asked, const std::string& who) override {
    return call("begin_oauth", service,
                asked.account + "," + asked.profile + "," + asked.flow + "," + asked.client_id + "," +
                    std::string(asked.client_secret.reveal()) + in_words(asked.own) + " " + who);
  }
  std::string oauth_attempt(const std::string& service, const std::string& id) override {
    return call("oauth_attempt", service, id);
  }
  std::string answer_oauth(const std::string& service, const std::string& id, const Secret& address) override {
    return call("answer_oauth", service, id + " " + std::string(address.reveal()));
  }
  std::string cancel_oauth(const std::string& service, const std::string& id) override {
    return call("cancel_oauth", service, id);
  }
  std::string disconnect(const std::string& service, const Disconnect& order, const std::string& who) override {
    return call(
        "disconnect", service,
        order.account + (order.force ? " force " : " ") + std::to_string(order.wait_ms.value_or(-1)) + " " + who);
  }
  std::string receipts(std::int64_t limit) override { return call("receipts", std::to_string(limit)); }
  std::string receipt(const std::string& id) override { return call("receipt", id); }
  std::string backup(const Backup& order, const std::string& who) override {
    return call("backup", order.directory, order.key_file + (order.replicas ? " " : " without replicas ") + who);
  }
  std::string vault() override { return call("vault"); }
  std::string unlock_vault(const Secret& passphrase, const std::string& who) override {
    return call("unlock_vault", std::string(passphrase.reveal()), who);
  }
  std::string rotate_vault(const Secret& passphrase, const std::string& who) override {
    return call("rotate_vault", std::string(passphrase.reveal()), who);
  }
  std::string set_vault_passphrase(const Secret& passphrase, const Secret& wanted, const std::string& who) override {
    return call("set_vault_passphrase", std::string(passphrase.reveal()), std::string(wanted.reveal()) + " " + who);
  }
  std::string use_vault_key_file(const Secret& passphrase, const std::string& who) override {
    return call("use_vault_key_file", std::string(passphrase.reveal()), who);
  }
  std::string sync_status(const std::string& service) override { return call("sync_status", service); }
  std::string verify_replica(const std::string& service, const ReplicaOrder& order, const std::string& who) override {
    return call("verify_replica", service,
                fmt::format("{} {} {} {}", order.account, order.records, order.minutes, who));
  }
  std::string rebuild_replica(const std::string& service, const std::string& account, const std::string& who) override {
    return call("rebuild_replica", service, fmt::format("{} {}", account, who));
  }
  std::string sync_now(const std::string& service, const std::string& who) override {
    return call("sync_now", service, who);
  }
  std::string writes(const WriteFilter& f) override {
    if (!f.id_begins.empty()) return by_beginning(f.id_begins);
    std::string states;
    for (const auto state : f.states) states += std::string(states.empty() ? "" : ",") + krux::to_string(state);
    return call("writes",
                f.needs_operator ? "person"
                : f.held_as_copy ? "held_as_copy"
                                 : states,
                "agent=" + f.agent_id + " service=" + f.service + " limit=" + std::to_string(f.limit) +
                    " before=" + f.before_write_id);
  }
  std::string write(const std::string& id) override { return call("write", id); }
  std::string cancel_write(const std::string& id, const std::string& who) override {
    return call("cancel_write", id, who);
  }
  std::string decide_outcome(const std::string& id, WriteEvent decision, std::optional<WriteState> expected,
                             const std::string& who) override {
    return call(
        "decide_outcome", id,
        std::string(krux::to_string(decision)) + " " + (expected ? krux::to_string(*expected) : "any") + " " + who);
  }
  std::string accept_write(const std::string& id, const std::string& hash, const std::optional<StandingTerms>& like,
                           const DecidingOperator& by) override {
    return call("accept_write", id, hash + " " + in_words(like) + by.who);
  }
  static std::string in_words(const std::optional<StandingTerms>& like) {
    return like ? "like " + std::to_string(like->for_ms / 1000) + " s " + std::to_string(like->most) + " " : "";
  }
  std::string standing_approvals() override { return call("standing_approvals"); }
  std::string end_standing_approval(const std::string& id, const std::string& who) override {
    return call("end_standing_approval", id, who);
  }
  std::string reject_write(const std::string& id, const std::string& reason, const std::string& who) override {
    return call("reject_write", id, reason + " " + who);
  }
  std::string edit_write(const std::string& id, const std::string& hash, const std::string& arguments,
                         const DecidingOperator& by) override {
    return call("edit_write", id, hash + " " + arguments + " " + by.who);
  }
  std::string rollback_write(const std::string& id, bool force, const std::string& who) override {
    return call("rollback_write", id, (force ? "force " : "") + who);
  }
  std::string decide(const DecisionRequest& asked, const DecidingOperator& by) override {
    std::string writes;
    for (const auto& write : asked.writes) {
      writes += write.write_id + ":" + write.content_hash;
      if (write.expected_state) writes += std::string(":") + krux::to_string(*write.expected_state);
      if (!write.expected_finding.empty()) writes += ":" + write.expected_finding;
      writes += " ";
    }
    return call("decide", asked.decision,
                writes + in_words(asked.like) + (asked.force ? "force " : "") + (asked.held ? "held " : "") +
                    asked.reason + by.who);
  }
  std::string limits() override { return call("limits"); }
  std::string approval_figures() override { return call("approval_figures"); }
  std::string plugins() override { return call("plugins"); }
  std::string release_plugin(const std::string& service, const std::string& who) override {
    return call("release_plugin", service, who);
  }
  std::string verify_plugin(const std::string& file) override { return call("verify_plugin", file); }
  std::string audit(AuditFilter f) override {
    return call("audit", f.agent_id + f.service + f.write_id + f.kind,
                fmt::format("{} {} {} {}", f.since_ms, f.until_ms, f.before_seq, f.limit));
  }
  std::string audit_export(std::int64_t after, std::int64_t limit) override {
    return call("audit_export", std::to_string(after), std::to_string(limit));
  }
  std::string verify_audit() override { return call("verify_audit"); }
  std::string decision_receipt(const std::string& id) override { return call("decision_receipt", id); }
  std::string webhook() override { return call("webhook"); }
  std::string test_webhook() override { return call("test_webhook"); }
  std::string rotate_audit_key() override { return call("rotate_audit_key"); }
  std::string alerts(bool open_only, std::int64_t limit) override {
    return call("alerts", open_only ? "open" : "all", std::to_string(limit));
  }
  std::string acknowledge_alert(std::int64_t id, const std::string& who) override {
    return call("acknowledge_alert", std::to_string(id), who);
  }

 protected:
  virtual std::string call(const std::string& name, const std::string& first = {}, const std::string& more = {}) {
    const std::lock_guard lock(mutex_);
    asked_.push_back(fmt::format("{}{}{}{}{}", name, first.empty() ? "" : " ", first, more.empty() ? "" : " ", more));
    if (const auto error = errors.find(name); error != errors.end()) throw Error(error->second);
    for (const auto& key : {fmt::format("{} {} {}", name, first, more), fmt::format("{} {}", name, first), name}) {
      if (const auto found = answers.find(key); found != answers.end()) return found->second;
    }
    return "{}";
  }

 private:
  /// Is not noted: any command may ask so before it does what it is for.
  std::string by_beginning(const std::string& begins) {
    const std::lock_guard lock(mutex_);
    const auto found = answers.find("writes_by_id " + begins);
    return found == answers.end() ? R"({"writes":[]})" : found->second;
  }

  std::mutex mutex_;
  std::vector<std::string> asked_;
};

}  // namespace krux::test
