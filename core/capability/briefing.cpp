// state.briefing.generate: what has happened to an agent's work while it was away.
#include "core/capability/briefing.hpp"

#include <algorithm>
#include <set>

#include "core/capability/call_rules.hpp"
#include "core/capability/catalogue.hpp"
#include "core/capability/host_capability.hpp"
#include "core/replica/replica.hpp"
#include "core/replica/replica_reader.hpp"
#include "core/state/agent_state.hpp"
#include "core/state/sessions.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::int64_t kWithoutSessionMs = 86'400'000, kMostOpen = 100, kMostOpenAlerts = 20;
constexpr std::size_t kShown = 10;
constexpr std::int64_t kLateAfter = 3;  ///< of the service's intervals
constexpr std::int64_t kMostChanges = 100;
constexpr std::uint32_t kMostMessages = 1'000;

CapabilityDefinition generate() {
  auto c = host_capability("state.briefing.generate", CapabilityKind::kRead,
                           "See what became of your work while you were away.",
                           "When you begin: what became of your writes, what people decided, open alerts, how "
                           "current the services are.",
                           "state");
  auto since = host_text("since", "From then on, instead of since your previous session.");
  since.type = InputType::kDateTime;
  since.max_length.reset();
  c.inputs = {since};
  auto briefing = host_output("briefing", InputType::kObject, "");
  briefing.fields = {host_output("summary", InputType::kString, "")};
  c.outputs = {briefing};
  return c;
}

void find_begin(const HandlerContext& context, const CheckedCall& call, Briefing& briefing) {
  const auto asked = text_argument(call, "since");
  if (!asked.empty()) {
    briefing.from = Briefing::From::kAsked;
    briefing.since_ms = parse_time(asked, "since");
    if (briefing.since_ms > briefing.now_ms)
      throw invalid_input("\"since\" is a time to come: give one that is over, or leave it out.");
    return;
  }
  const auto& sessions = context.records.sessions;
  const auto present = sessions.find(session_of(context, call));
  const auto before = present ? sessions.before(*present) : std::nullopt;
  briefing.from = before ? Briefing::From::kSession : Briefing::From::kLastDay;
  briefing.since_ms = briefing.now_ms - kWithoutSessionMs;
  if (!before) return;
  briefing.session_id = before->session_id;
  // Where both go on side by side, since the present one began.
  briefing.since_ms = std::min(before->used_at_ms, present->created_at_ms);
}

void count_ended(Ledger& ledger, const std::string& agent_id, Briefing& b) {
  const std::pair<WriteState, std::int64_t*> all[] = {
      {WriteState::kCompleted, &b.completed}, {WriteState::kFailed, &b.failed},
      {WriteState::kCancelled, &b.cancelled}, {WriteState::kRejected, &b.rejected},
      {WriteState::kDiscarded, &b.discarded}, {WriteState::kRolledBack, &b.rolled_back},
      {WriteState::kBuffered, nullptr},       {WriteState::kExecuting, nullptr},
      {WriteState::kUnknown, nullptr},        {WriteState::kDeadLetter, nullptr}};
  for (const auto& [state, count] : all) {
    auto recent = ledger.recent(agent_id, state, b.since_ms);
    b.approved += recent.accepted;
    if (!count) continue;
    *count = recent.ended;
    b.cut = b.cut || recent.cut;
    for (auto& write : recent.newest) b.ended.push_back(std::move(write));
  }
  std::sort(b.ended.begin(), b.ended.end(), [](auto& x, auto& y) { return x.ended_at_ms > y.ended_at_ms; });
  if (b.ended.size() > kShown) b.ended.resize(kShown);
}

std::int64_t count_open(Ledger& ledger, const std::string& agent_id, std::vector<WriteState> states, Briefing& b) {
  WriteFilter filter;
  filter.agent_id = agent_id;
  filter.states = std::move(states);
  filter.limit = kMostOpen;
  const auto writes = ledger.list(filter);
  const auto count = static_cast<std::int64_t>(writes.size());
  b.cut = b.cut || count >= kMostOpen;
  for (const auto& write : writes) {
    if (b.open.size() < kShown) b.open.push_back(write);
  }
  return count;
}

SyncHealth health_of(const ActiveAccount& account, std::int64_t now_ms) {
  using State = SyncHealth::State;
  SyncHealth health{account.ref.service, account.name.empty() ? account.ref.account_id : account.name};
  if (account.replica) health.synced_at_ms = account.replica->state().last_sync_ms;
  const auto late_after = kLateAfter * account.definition->sync_interval_ms;
  if (account.health && account.health->quarantined()) {
    health.state = State::kOutOfService;
  } else if (health.synced_at_ms == 0) {
    health.state = State::kNeverSynced;
  } else if (now_ms - health.synced_at_ms > late_after) {
    health.state = State::kLate;
  }
  return health;
}

/// What the account's own service says of when a message was sent, and by whom; nothing where the replica is not whole.
void count_messages(const ActiveAccount& account, std::int64_t since_ms, SyncHealth& health) {
  const auto& where = account.definition->correspondence;
  if (where.collection.empty() || !account.replica || !account.replica->state().whole) return;
  Query query;
  query.collection = where.collection;
  query.from_ms = since_ms;
  query.limit = 1;
  query.count_limit = kMostMessages;
  query.where.kind = Condition::Kind::kNoneOf;
  auto tags = where.without_tags;
  if (!where.sent_tag.empty()) tags.push_back(where.sent_tag);
  for (const auto& tag : tags) {
    auto& one = query.where.children.emplace_back();
    one.kind = Condition::Kind::kTag;
    one.text = tag;
  }
  if (tags.empty()) query.where.kind = Condition::Kind::kAllOf;
  try {
    const auto found = reader_of(account)->query(query, [](const RowView&) { return false; });
    health.new_messages = static_cast<std::int64_t>(found.total);
    health.messages_cut = found.total_is_lower_bound || found.incomplete;
  } catch (const Error&) {
    // Its adapter has no such collection, or the replica has gone: the rest of the briefing is worth having.
  }
}

/// Whose messages the agent may read; the others it is not told of.
std::set<std::string> readable_services(const HandlerContext& context, const CheckedCall& call) {
  std::set<std::string> services;
  for (const auto& listed : listed_capabilities(context, call.invocation.agent_name)) {
    if (listed.capability->kind == CapabilityKind::kRead && listed.tier() < Tier::kApprovalRequired)
      services.insert(listed.definition->service);
  }
  return services;
}

void look_at_services(const HandlerContext& context, const CheckedCall& call, Briefing& b) {
  const auto readable = readable_services(context, call);
  for (const auto& account : context.accounts.accounts()) {
    auto health = health_of(*account, b.now_ms);
    if (readable.contains(account->ref.service)) count_messages(*account, b.since_ms, health);
    b.services.push_back(std::move(health));
  }
}

void look_at_shared(const HandlerContext& context, const std::string& agent_id, Briefing& b) {
  const auto* state = context.options.state;
  if (!state || why_not_hear_state(context, agent_id)) return;
  b.shared.newest = state->kept.set_by_others(agent_id, b.since_ms, kMostChanges);
  b.shared.count = static_cast<std::int64_t>(b.shared.newest.size());
  b.cut = b.cut || b.shared.count >= kMostChanges;
  if (b.shared.newest.size() > kShown) b.shared.newest.resize(kShown);
}

std::string generated(const HandlerContext& context, const CheckedCall& call) {
  auto& ledger = context.writes.ledger;
  const auto& agent_id = call.invocation.agent_id;
  Briefing b;
  b.now_ms = context.clock.wall_ms();
  find_begin(context, call, b);
  count_ended(ledger, agent_id, b);
  using enum WriteState;
  b.pending_approval = count_open(ledger, agent_id, {kPendingApproval}, b);
  b.unknown = count_open(ledger, agent_id, {kUnknown}, b);
  b.dead_letter = count_open(ledger, agent_id, {kDeadLetter}, b);
  b.buffered = count_open(ledger, agent_id, {kBuffered, kHeld}, b);
  b.executing = count_open(ledger, agent_id, {kExecuting}, b);
  b.alerts = context.records.alerts.list_for(agent_id, true, kMostOpenAlerts);
  look_at_services(context, call, b);
  look_at_shared(context, agent_id, b);
  const auto name_of = [&](const std::string& id) { return agent_name_of(context, id); };
  return sized_for(call, "{\"briefing\":" + briefing_json(b, name_of) + "}");
}

}  // namespace

std::vector<HostCapability> briefing_capabilities() {
  return {{generate(), [](const auto& context, const auto& call) { answer_on_worker(context, call, generated); }}};
}

}  // namespace krux
