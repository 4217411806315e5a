#include "host/gateway/mcp/invitations.hpp"

#include <fmt/format.h>
#include <kruxos/abi/call.h>

#include <algorithm>

#include "core/util/ids.hpp"
#include "host/gateway/mcp/question_forms.hpp"

namespace krux::mcp {
namespace {

constexpr std::size_t kElicitationBytes = 16, kKeyDigits = 16;

}  // namespace

std::string Invitation::key() const {
  return "approval-" + to.content_hash.substr(0, kKeyDigits);
}

void Invitation::put_request(JsonWriter& out, std::string_view elicitation_id) const {
  put(out, "method", "elicitation/create");
  put_key(out, "params");
  out.StartObject();
  put(out, "mode", "url");
  put(out, "message",
      fmt::format("KruxOS: the agent \"{}\" wants to do {}, and that waits for the operator's decision. The operator's "
                  "page on this machine, at 127.0.0.1:{}, shows all of it, and is where it is accepted or rejected. "
                  "What is answered here decides nothing.",
                  agent_name, to.capability, page_port));
  put(out, "url", fmt::format("http://127.0.0.1:{}/writes/{}", page_port, to.write_id));
  if (!elicitation_id.empty()) put(out, "elicitationId", elicitation_id);
  out.EndObject();
}

std::string Invitation::input_requests() const {
  return json_object([&](JsonWriter& out) {
    put_key(out, key());
    out.StartObject();
    put_request(out, {});
    out.EndObject();
  });
}

void Invitation::check_answer(std::string_view result_json) const {
  Question question;
  question.name = key();
  question.kind = KRUX_ASK_URL;
  answer_json(question, result_json);
}

std::string invitation_over(std::string_view elicitation_id) {
  return fmt::format(
      R"({{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{{"elicitationId":"{}"}}}})",
      elicitation_id);
}

/// Under the lock.
bool Invitations::is_there(const Whose& whose, const AskedApproval& to) const {
  const auto all = by_agent_.find(whose.agent_id);
  return all != by_agent_.end() && std::any_of(all->second.begin(), all->second.end(), [&](const Entry& one) {
           return one.whose == whose && one.write_id == to.write_id && one.content_hash == to.content_hash;
         });
}

/// Under the lock.
void Invitations::add(Entry entry) {
  auto& all = by_agent_[entry.whose.agent_id];
  if (all.size() >= kPerAgent) all.pop_front();
  all.push_back(std::move(entry));
}

std::optional<std::string> Invitations::begin(const Whose& whose, const AskedApproval& to, Way way) {
  const std::lock_guard lock(mutex_);
  if (is_there(whose, to)) return std::nullopt;
  auto id = random_hex(kElicitationBytes);
  add({whose, to.write_id, to.content_hash, id, false, std::move(way)});
  return id;
}

bool Invitations::is_open(const Whose& whose, const AskedApproval& to) const {
  const std::lock_guard lock(mutex_);
  return !is_there(whose, to);
}

void Invitations::answered(const Whose& whose, const AskedApproval& to) {
  const std::lock_guard lock(mutex_);
  if (!is_there(whose, to)) add({whose, to.write_id, to.content_hash, {}, true, {}});
}

void Invitations::answered(const std::string& agent_id, const std::string& elicitation_id) {
  const std::lock_guard lock(mutex_);
  const auto all = by_agent_.find(agent_id);
  if (all == by_agent_.end()) return;
  for (auto& one : all->second) one.is_answered = one.is_answered || one.elicitation_id == elicitation_id;
}

void Invitations::dropped(const std::string& agent_id, const std::string& elicitation_id) {
  const std::lock_guard lock(mutex_);
  const auto all = by_agent_.find(agent_id);
  if (all == by_agent_.end()) return;
  all->second.remove_if([&](const Entry& one) { return one.elicitation_id == elicitation_id && !one.is_answered; });
  if (all->second.empty()) by_agent_.erase(all);
}

std::vector<Invitations::Told> Invitations::decided(const std::string& agent_id, const std::string& write_id) {
  std::vector<Told> told;
  const std::lock_guard lock(mutex_);
  const auto all = by_agent_.find(agent_id);
  if (all == by_agent_.end()) return told;
  all->second.remove_if([&](Entry& one) {
    if (one.write_id != write_id) return false;
    if (!one.elicitation_id.empty())
      told.push_back({one.whose.session, one.elicitation_id, std::move(one.way), one.is_answered});
    return true;
  });
  if (all->second.empty()) by_agent_.erase(all);
  return told;
}

void Invitations::session_ended(const std::string& session) {
  const std::lock_guard lock(mutex_);
  for (auto& [agent_id, all] : by_agent_)
    all.remove_if([&](const Entry& one) { return !session.empty() && one.whose.session == session; });
}

}  // namespace krux::mcp
