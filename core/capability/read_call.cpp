#include "core/capability/read_call.hpp"

#include <fmt/format.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <set>

#include "core/capability/call_rules.hpp"
#include "core/capability/errors.hpp"
#include "core/capability/write_content.hpp"
#include "core/capability/write_json.hpp"
#include "core/definition/forms.hpp"
#include "core/replica/replica.hpp"
#include "core/replica/replica_reader.hpp"
#include "core/replica/sender_proof.hpp"
#include "core/state/agent_history.hpp"
#include "core/util/json_texts.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kMostNoted = 500;  ///< bytes of a call's arguments

bool is_host_member(std::string_view key) {
  return key == "freshness" || key == "content_trust" || key == "pending_writes" || key == "pending_writes_cut";
}

/// Looks for the host's own members at the top of an object that is known to be valid.
struct HostMembers : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, HostMembers> {
  int depth = 0;
  bool found = false;

  bool Key(const char* text, rapidjson::SizeType length, bool) {
    const std::string_view key(text, length);
    found = found || (depth == 1 && is_host_member(key));
    return true;
  }
  bool StartObject() { return ++depth > 0; }
  bool EndObject(rapidjson::SizeType) { return --depth >= 0; }
  bool StartArray() { return ++depth > 0; }
  bool EndArray(rapidjson::SizeType) { return --depth >= 0; }
};

/// Whether the text of such a member stands anywhere, or keys may be spelt with escapes: nearly no result has either.
/// In one pass, since a result is mostly quotation marks to a search for a text that begins with one.
bool may_have_host_members(std::string_view result) {
  for (auto at = result.find('"'); at != std::string_view::npos; at = result.find('"', at + 1)) {
    const auto rest = result.substr(at + 1);
    if (rest.starts_with("freshness\"") || rest.starts_with("content_trust\"") || rest.starts_with("pending_writes"))
      return true;
  }
  return result.find("\\u") != std::string_view::npos;
}

bool has_host_members(const std::string& result) {
  if (!may_have_host_members(result)) return false;
  rapidjson::MemoryStream stream(result.data(), result.size());
  HostMembers look;
  rapidjson::Reader().Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag>(stream, look);
  return look.found;
}

std::string time_json(std::int64_t ms) {
  return ms > 0 ? "\"" + format_time(ms) + "\"" : "null";
}

std::string freshness_json(const ReplicaFreshness& of, std::int64_t now_ms) {
  const auto age = std::max<std::int64_t>(now_ms - of.synced_ms, 0) / 1000;
  return fmt::format(R"({{"synced_at":{},"complete_through":{},"age_seconds":{}{}}})", time_json(of.synced_ms),
                     time_json(of.complete_through_ms), of.synced_ms > 0 ? fmt::format("{}", age) : std::string("null"),
                     of.left_out > 0 ? fmt::format(",\"left_out\":{}", of.left_out) : std::string());
}

/// What the read is about, with names resolved as in writes; empty: everything.
std::string resolved_target(const CheckedCall& call, const CallContextPtr& on) {
  try {
    const auto named = resolved_target_inputs(call, on);
    return named.ObjectEmpty() ? std::string() : target_of(*call.capability, named);
  } catch (const Error&) {
    return target_of(*call.capability, call.arguments.params);  // a name that nothing has: no write is about it either
  }
}

OpenWritesFound pending_of(const HandlerContext& context, const CheckedCall& call, const CallContextPtr& on,
                           const SyncState& state) {
  const auto& agent = call.invocation.agent_id;
  if (!context.writes.open.any(agent)) return {};
  // Which collections the read will look into is not known yet.
  const auto through_ms = state.whole ? state.complete_through_ms : 0;
  return context.writes.open.of(agent, call.account->ref, resolved_target(call, on), through_ms);
}

/// Nothing where there is no such time (yet).
std::string time_member(const char* name, std::int64_t ms) {
  return ms > 0 ? fmt::format(R"(,"{}":"{}")", name, format_time(ms)) : std::string();
}

/// A list of JSON objects.
std::string pending_json(const std::vector<OpenWrite>& pending, WriteNames names) {
  std::string out;
  for (const auto& write : pending) {
    out += fmt::format(R"({}{{"write_id":{},"capability":{},"status":"{}","summary":{})", out.empty() ? "" : ",",
                       json_string(write.write_id), json_string(write.operation), to_string(write.state),
                       json_string(write.summary));
    out += time_member("created_at", write.created_at_ms);
    if (names == WriteNames::kAll) out += time_member("buffer_until", write.buffer_until_ms);
    out += time_member("cancel_deadline", write.buffer_until_ms);
    out += time_member("ended_at", write.ended_at_ms) + "}";
  }
  return "[" + out + "]";
}

/// The one way in which a read is seen by the service, and so noted whose it was and for what.
void tell_of_fetch(const CheckedCall& call, std::uint32_t requests) {
  const auto& account = call.account->ref;
  const auto& agent = call.invocation.agent_id;
  log_event(
      spdlog::level::info, {"read_fetched", account.service, account.account_id, agent, ""},
      fmt::format("{} of agent {} asked {} {}, {} requests, for {}", call.capability->name, agent, account.service,
                  account.account_id, requests, call.arguments.params_json.substr(0, kMostNoted)));
}

/// What the adapter has asked instead of answering. Throws krux::Error: it may not ask that.
Questions questions_of(const CheckedCall& call, AskedInput asked) {
  std::string why;
  Questions questions;
  try {
    questions.all = parse_questions(asked.questions_json);
    why = why_not_asked(questions.all, *call.capability, *call.definition);
  } catch (const Error& error) {
    why = error.what();
  }
  if (!why.empty())
    throw Error(ErrorCode::kServiceUnavailable,
                fmt::format("The adapter of {} asks what it may not: {}. This is a defect of the adapter; tell the "
                            "operator.",
                            call.definition->service, why));
  questions.questions_json = std::move(asked.questions_json);
  questions.state = std::move(asked.state);
  questions.account = text_of(call.account->ref);
  return questions;
}

/// What the service says of who has sent the messages of an answer: those whose ids stand in it, and what was read of.
std::vector<ReadMark> marks_of(const ActiveAccount& account, const std::string& target, std::string_view result_json) {
  constexpr std::size_t kMostMessages = 500;
  const auto& where = account.definition->correspondence;
  if (where.proof.empty() || !account.replica) return {};
  std::set<std::string> ids;
  if (!target.empty()) ids.insert(target);
  each_text(result_json, [&](std::string_view key, std::string_view text) {
    if (key == "id" && ids.size() < kMostMessages) ids.emplace(text);
  });
  std::set<ReadMark> marks;
  if (ids.size() >= kMostMessages) marks.insert(ReadMark::kUnsaidSender);
  const auto rows = reader_of(account);
  for (const auto& id : ids) {
    const auto proof = sender_proof(*rows, where, id);
    if (proof == SenderProof::kUnproven) marks.insert(ReadMark::kUnprovenSender);
    if (proof == SenderProof::kUnsaid) marks.insert(ReadMark::kUnsaidSender);
  }
  return {marks.begin(), marks.end()};
}

/// What was read of: at a service, or where other agents have written.
ReadSource source_of(const CheckedCall& call, const CallContextPtr& on) {
  const auto& capability = call.capability->name;
  if (call.account) {
    const auto& account = call.account->ref;
    return {account.service, account.account_id, capability, resolved_target(call, on)};
  }
  const auto key = find_string(call.arguments.params, "key").value_or("");
  return {call.definition->service, {}, capability, std::string(key)};
}

/// `asked`: instead of a result, which is empty then.
std::string read(const HandlerContextPtr& context, const CheckedCallPtr& call, const CallContextPtr& on,
                 std::optional<Questions>& asked) {
  static const auto nobody = std::make_shared<const ReadDialogue>();
  const auto& account = *call->account;
  must_be_allowed_to_read(*context, *call, on);
  const auto& dialogue = call->invocation.dialogue ? call->invocation.dialogue : nobody;
  must_be_asked_of(dialogue->account, account);
  if (call->capability->fetches) call->invocation.tell(fmt::format("{} is asked.", account.ref.service));
  const auto lent = call->capability->fetches ? fetching_reader_of(account) : reader_of(account);
  // Before the read: what these say is at least true of what was read, and a call that comes back when it was given up
  // touches nothing of the host any more.
  const auto now_ms = context->clock.wall_ms();
  const auto pending = pending_of(*context, *call, on, account.replica->state());
  on->converse(dialogue);  // the read's alone
  const auto [answer, reader] = answer_from_rows(account, on, lent, [&](const std::shared_ptr<ReplicaReader>& rows) {
    return account.adapter->ask<"read">(on, rows, call->capability->name, call->arguments.params_json);
  });
  if (on->requests() > 0) tell_of_fetch(*call, on->requests());
  if (on->requests() > 0 && call->audit) call->audit->fetched(on->requests());
  if (auto input = on->asked()) {
    asked = questions_of(*call, *std::move(input));
    return {};
  }
  if (const auto* failure = std::get_if<CallFailure>(&answer)) {
    // What is not found may be what the agent has just written.
    if (failure->status == KRUX_NOT_FOUND && !pending.writes.empty())
      throw to_error(*failure, account.ref.service)
          .with_context("{\"pending_writes\":" + pending_json(pending.writes, names_for(*call)) + "}");
    throw to_error(*failure, account.ref.service);
  }
  auto result = sized_for(*call, finish_read(std::get<std::string>(answer), reader->freshness(), now_ms,
                                             account.ref.service, pending, names_for(*call)));
  note_read(*context, *call, on, result);
  return result;
}

}  // namespace

void note_read(const HandlerContext& context, const CheckedCall& call, const CallContextPtr& on,
               const std::string& result_json) {
  auto* const history = context.options.history;
  if (!history || on->cancelled()) return;
  note_call(context, call, context.clock.wall_ms());
  const auto rules = rules_in_force(context);
  if (!rules->ask_what_was_read()) return;
  const auto source = source_of(call, on);
  if (rules->ask("read_words")) history->words.note(call.invocation.agent_id, source, result_json);
  const bool asks_of_senders = call.account && rules->ask("read_unproven");
  const auto marks = asks_of_senders ? marks_of(*call.account, source.target, result_json) : std::vector<ReadMark>();
  history->reads.note(call.invocation.agent_id, source, result_json, marks);
}

void must_be_asked_of(const std::string& asked_of, const ActiveAccount& account) {
  if (asked_of.empty() || asked_of == text_of(account.ref)) return;
  throw invalid_input(
      "What was asked is for an account that is not connected any more, or another one. Call again from the "
      "beginning.");
}

JsonDocument resolved_target_inputs(const CheckedCall& call, const CallContextPtr& on) {
  const auto& capability = *call.capability;
  JsonDocument named(rapidjson::kObjectType);
  for (const auto& member : call.arguments.params.GetObject()) {
    const auto name = view(member.name);
    if (capability.target.find("{" + std::string(name) + "}") == std::string::npos) continue;
    auto& allocator = named.GetAllocator();
    named.AddMember(JsonValue(member.name, allocator), JsonValue(member.value, allocator), allocator);
  }
  if (named.ObjectEmpty()) return named;
  return resolve_params(*call.account, on, capability.name, params_of(canonical_json(named))).params;
}

std::string finish_read(std::string result, const ReplicaFreshness& freshness, std::int64_t now_ms,
                        const std::string& service, const OpenWritesFound& pending, WriteNames names) {
  if (has_host_members(result)) {
    throw Error(ErrorCode::kServiceUnavailable,
                fmt::format("The adapter of {} gave a result that cannot be used: it has a member that the host adds "
                            "(freshness, content_trust, pending_writes, pending_writes_cut). This is a defect of the "
                            "adapter; tell the operator.",
                            service),
                true, 60'000);
  }
  const auto close = result.find_last_of('}');
  const bool has_members = result.find_last_not_of(" \t\r\n", close - 1) != result.find_first_of('{');
  result.resize(close);
  if (has_members) result += ',';
  result += "\"content_trust\":\"untrusted\",\"freshness\":";
  result += freshness_json(freshness, now_ms);
  if (!pending.writes.empty()) result += ",\"pending_writes\":" + pending_json(pending.writes, names);
  if (pending.cut) result += ",\"pending_writes_cut\":true";
  result += '}';
  return result;
}

void run_read(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  const auto timeout = call->capability->fetches ? call->definition->call_timeout_ms : context->options.read_timeout_ms;
  // As the answer: of a worker that was abandoned nobody reads it.
  const auto asked = std::make_shared<std::optional<Questions>>();
  run_on_worker(
      context, call, timeout,
      [context, call, asked](const CallContextPtr& on) { return read(context, call, on, *asked); },
      [call, asked](WorkAnswer answer) {
        if (const auto* error = std::get_if<Error>(&answer)) return call->fail(*error);
        if (*asked) return call->ask(std::move(**asked));
        call->succeed(std::move(std::get<std::string>(answer)));
      });
}

}  // namespace krux
