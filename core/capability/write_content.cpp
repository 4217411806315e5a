#include "core/capability/write_content.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/account/permission.hpp"
#include "core/capability/audited_decision.hpp"
#include "core/capability/catalogue.hpp"
#include "core/capability/errors.hpp"
#include "core/capability/upload_inputs.hpp"
#include "core/capability/write_json.hpp"
#include "core/definition/forms.hpp"
#include "core/replica/replica_reader.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::string_view kSendAt = "send_at";
constexpr std::size_t kMostNamed = 3;

std::string name_of_record(const ActiveAccount& account, const SummaryRecord& record, const std::string& id) {
  try {
    const auto json = account.replica ? json_of_record(*reader_of(account), record.collection, id) : std::string();
    return record_in_words(record.words, id, json);
  } catch (const Error&) {
    return record_in_words(record.words, id, {});  // words are for people: the id says the same
  }
}

/// What an edit changes: inputs by their own names. null: back to the default, or cleared where it is nullable.
JsonDocument changes_of(const CapabilityDefinition& capability, const std::string& arguments_json) {
  const auto given = parse_json(arguments_json, "The arguments");
  if (!given.IsObject() || given.ObjectEmpty())
    throw invalid_input(R"(The arguments must be one JSON object with what is to change, such as {"text": "..."}.)");
  JsonDocument changes(rapidjson::kObjectType);
  auto& allocator = changes.GetAllocator();
  for (const auto& member : given.GetObject()) {
    auto name = std::string(view(member.name));
    for (const auto& input : capability.inputs) {
      if (std::count(input.aliases.begin(), input.aliases.end(), name) > 0) name = input.name;
    }
    const auto has = [&](const InputDefinition& input) { return input.name == name; };
    if (name != kSendAt && std::none_of(capability.inputs.begin(), capability.inputs.end(), has))
      throw invalid_input(fmt::format("{} has no parameter \"{}\" that could be edited.", capability.name,
                                      printable(name.substr(0, 60))));
    changes.RemoveMember(name.c_str());
    changes.AddMember(JsonValue(name, allocator), JsonValue(member.value, allocator), allocator);
  }
  for (const auto& input : capability.inputs) {
    const auto* value = input.instead_of.empty() ? nullptr : find_member(changes, input.name);
    if (!value || value->IsNull()) continue;
    for (const auto& name : input.instead_of) {
      if (!find_member(changes, name)) changes.AddMember(JsonValue(name, allocator), JsonValue(), allocator);
    }
  }
  return changes;
}

/// The inputs of `params_json` with the changes laid over them.
CheckedArguments changed_arguments(const HandlerContext& context, const WriteRecord& write,
                                   const CapabilityDefinition& capability, const std::string& params_json,
                                   const JsonValue& changes) {
  const auto before = parse_json(params_json, "the stored arguments", {64 << 20, 64});
  JsonDocument merged(rapidjson::kObjectType);
  auto& allocator = merged.GetAllocator();
  for (const auto& input : capability.inputs) {
    const auto* changed = find_member(changes, input.name);
    const auto* value = changed ? changed : find_member(before, input.name);
    if (!value || (value->IsNull() && !input.nullable)) continue;
    merged.AddMember(JsonValue(input.name, allocator), JsonValue(*value, allocator), allocator);
  }
  auto arguments = check_arguments(capability, to_json(merged));
  bind_uploads(context.options.uploads, capability, write.agent_id, arguments, &before);
  return arguments;
}

/// The time that it is scheduled for with the changes; 0: for none.
std::int64_t changed_send_at(const WriteRecord& write, const JsonValue& changes) {
  const auto* changed = find_member(changes, kSendAt);
  if (!changed) return write.send_at_ms;
  return changed->IsNull() ? 0 : parse_send_at(write.operation, *changed);
}

/// A name may mean something else by now. What was not changed stays what it was.
void must_stay(const CapabilityDefinition& capability, const JsonValue& changes, const std::string& before_json,
               const JsonValue& after) {
  const auto before = parse_json(before_json, "the stored parameters", {64 << 20, 64});
  const auto of = [](const JsonValue& params, const std::string& name) {
    const auto* value = find_member(params, name);
    return value ? to_json(*value) : std::string();
  };
  for (const auto& input : capability.inputs) {
    const auto was = of(before, input.name), is = of(after, input.name);
    if (find_member(changes, input.name) || was.empty() || was == is) continue;
    throw conflict(
        fmt::format("The edit would also turn {} from {} into {}. Nothing was changed: name {} in the edit "
                    "as well, if that is what you want.",
                    input.name, printable(was.substr(0, 100)), printable(is.substr(0, 100)), input.name));
  }
}

/// As the agent gave them, with what the adapter's resolution has added: whom a reply goes to is content like any
/// other. What it has taken away is not shown: it stands for what was added, and an edit of that would leave it behind.
JsonDocument with_added(const JsonValue& given, const JsonValue& resolved) {
  JsonDocument shown(rapidjson::kObjectType);
  auto& allocator = shown.GetAllocator();
  const auto show = [&](const JsonValue& from, const JsonValue& other, bool if_there) {
    for (const auto& member : from.GetObject()) {
      if ((find_member(other, view(member.name)) != nullptr) != if_there) continue;
      shown.AddMember(JsonValue(member.name, allocator), JsonValue(member.value, allocator), allocator);
    }
  };
  show(given, resolved, true);
  show(resolved, given, false);
  return shown;
}

/// Without the names of inputs that the agent gave in words himself, which stay as he gave them.
SummaryNames said_in_words(const CheckedCall& call, const JsonValue& shown) {
  auto names = call.names;
  std::erase_if(names, [&](const auto& named) {
    const auto* given = find_member(shown, named.first);
    const auto* resolved = find_member(call.resolved.params, named.first);
    return given && resolved && to_json(*given) != to_json(*resolved);
  });
  return names;
}

/// An edit on its way through two workers: one for the ledger, one for the adapter.
struct Edit {
  EditRequest request;
  WriteRecord write;
  std::shared_ptr<CheckedCall> call = std::make_shared<CheckedCall>();  ///< names as they were resolved at first
  CheckedArguments shown;                                               ///< as they were given
  JsonDocument changes;
  std::function<void(std::variant<WriteRecord, Error>)> done;
};
using EditPtr = std::shared_ptr<Edit>;

void load(const HandlerContext& context, Edit& edit) {
  const auto& request = edit.request;
  const auto write = context.writes.ledger.get(request.write_id);
  if (!write || (!request.agent_id.empty() && write->agent_id != request.agent_id))
    throw invalid_input(fmt::format("There is no write {}.", printable(request.write_id)));
  edit.write = *write;
  if (edit.request.shown_hash.empty()) edit.request.shown_hash = write->content_hash;
  if (!write->rolls_back.empty()) throw invalid_input("An undo has nothing to edit; cancel it instead.");
  const auto account = must_be_connected(context.accounts, *write);
  const auto* capability = account->definition->find(write->operation);
  if (!capability)
    throw invalid_input(fmt::format("The definition has no {} any more, so that this write cannot be edited.",
                                    printable(write->operation)));
  if (capability->tier == Tier::kBlocked && !request.agent_id.empty())
    throw Error(ErrorCode::kOperationBlocked, fmt::format("{} is blocked. Nothing was changed.", capability->name));
  auto& call = *edit.call;
  call.account = account;
  call.definition = account->definition;
  call.capability = capability;
  edit.changes = changes_of(*capability, request.arguments_json);
  edit.shown = changed_arguments(context, *write, *capability, write->params_shown_json, edit.changes);
  edit.shown.send_at_ms = changed_send_at(*write, edit.changes);
  call.arguments = changed_arguments(context, *write, *capability, write->params_json, edit.changes);
}

void submit(const HandlerContextPtr& context, const EditPtr& edit) {
  const auto& call = *edit->call;
  const auto& request = edit->request;
  NewContent content;
  try {
    const auto by = governing(*context, call, agent_name_of(*context, edit->write.agent_id), edit->write.agent_id,
                              edit->write.created_at_ms);
    if (edit->shown.send_at_ms != edit->write.send_at_ms && edit->shown.send_at_ms > 0) must_have_window(by);
    content = content_of(context->options, call, by, edit->shown);
  } catch (const std::exception& problem) {
    return edit->done(error_of(problem));
  }
  context->writes.ledger.edit(request.write_id, request.agent_id, request.shown_hash, std::move(content), request.by,
                              [edit](std::variant<WriteRecord, Error> answer) { edit->done(std::move(answer)); });
}

}  // namespace

std::string key_value_of(const std::string& key, const JsonValue& params) {
  const auto* value = key.empty() ? nullptr : find_member(params, key);
  if (!value || value->IsNull()) return {};
  // As the ledger's rows say it, where a truth is a number.
  if (value->IsBool()) return value->GetBool() ? "1" : "0";
  return value->IsString() ? std::string(view(*value)) : to_json(*value);
}

std::vector<LimitRule> rules_for(const HandlerOptions& options, const ServiceDefinition& definition,
                                 const CapabilityDefinition& capability, const JsonValue& params) {
  std::vector<LimitRule> rules;
  for (const auto& limit : definition.limits) {
    if (std::count(limit.operations.begin(), limit.operations.end(), capability.name) == 0) continue;
    rules.push_back({limit,
                     key_value_of(limit.key, params),
                     options.escalate_on_exceed.value_or(definition.escalate_on_exceed),
                     {},
                     definition.version,
                     capability.name});
  }
  return rules;
}

std::string why_asked(const CapabilityDefinition& capability) {
  if (capability.tier != Tier::kApprovalRequired) return {};
  return fmt::format("Every {} needs a person's approval.", capability.name);
}

std::int64_t delay_of(const HandlerOptions& options, const CapabilityDefinition& capability) {
  const auto configured = options.delays_ms.find(capability.name);
  if (configured != options.delays_ms.end()) return configured->second;
  return capability.delay_ms.value_or(options.default_delay_ms);
}

ActiveAccountPtr must_be_connected(const AccountDirectory& accounts, const WriteRecord& write) {
  auto account = accounts.find(write.account);
  if (account) return account;
  accounts.must_be_served(write.account.service);
  throw not_connected(
      fmt::format("{} {} is not connected as it was when this write was accepted, so that the write can "
                  "neither be edited nor undone.",
                  write.account.service, printable(write.account.account_id)));
}

ResolvedParams resolve_params(const ActiveAccount& account, const CallContextPtr& on, const std::string& operation,
                              ResolvedParams given) {
  if (!account.adapter->roles().read) return given;
  const auto asked = [&](const std::shared_ptr<ReplicaReader>& rows) {
    return account.adapter->ask<"resolve">(on, rows, operation, given.json);
  };
  const auto answer = answer_from_rows(account, on, reader_of(account), asked).answer;
  if (const auto* failure = std::get_if<CallFailure>(&answer)) throw to_error(*failure, account.ref.service);
  const auto& resolved = std::get<std::string>(answer);
  if (resolved == given.json) return given;
  try {
    const auto document = parse_json(resolved, "what it resolved");
    if (document.IsObject()) return params_of(canonical_json(document));
  } catch (const Error&) {
    // Below: it is the adapter's defect, not the agent's input.
  }
  throw Error(ErrorCode::kServiceUnavailable,
              fmt::format("The adapter of {} gave parameters that are no JSON object. This is a defect of the adapter; "
                          "tell the operator.",
                          account.ref.service),
              true, 60'000);
}

Governing governing(const HandlerContext& context, const CheckedCall& call, std::string_view agent,
                    std::string_view agent_id, std::int64_t accepted_ms) {
  const auto& params = call.resolved.params;
  const auto& counted = counted_capability(*call.definition, *call.capability, params);
  if (&counted != call.capability && counted.tier == Tier::kBlocked)
    throw Error(ErrorCode::kOperationBlocked, fmt::format("With these inputs {} counts as {}, which is blocked.",
                                                          call.capability->name, counted.name));
  must_be_open_to(counted, *call.account);
  Governing by{counted,
               ruling_on(context, rules_in_force(context),
                         {agent, {agent_id, call.account->ref.service, call.account->ref.account_id, 0, accepted_ms}},
                         *call.capability, counted, params),
               std::string(agent)};
  if (by.ruling.blocks()) {
    if (call.audit)
      call.audit->decided(
          audited_decision_json(by.ruling, {*call.definition, *call.capability, counted}, by.agent, params));
    throw denied(by.ruling, call.capability->name);
  }
  by.delay_ms = std::max(delay_of(context.options, counted), by.ruling.decision.delay_ms);
  by.at_once = runs_at_once(counted, by.delay_ms);
  return by;
}

ResolvedParams params_of(std::string canonical_json) {
  ResolvedParams params;
  params.params = parse_json(canonical_json, "the parameters", {64 << 20, 64});
  params.json = std::move(canonical_json);
  return params;
}

bool runs_at_once(const CapabilityDefinition& capability, std::int64_t delay_ms) {
  return capability.immediate && delay_ms == 0;
}

void must_have_window(const Governing& by) {
  if (!by.at_once) return;
  throw invalid_input(fmt::format(
      "{}: \"send_at\" is not possible, since it is done at once and waits in no buffer. Call it when it is to happen.",
      by.capability.name));
}

SummaryNames names_for_summary(const ActiveAccount& account, const CapabilityDefinition& capability,
                               const JsonValue& resolved) {
  SummaryNames names;
  for (const auto& record : capability.summary_records) {
    const auto ids = ids_of(record.id, resolved);
    auto& words = names[record.name];
    const auto named = std::min(ids.size(), kMostNamed);
    // The number first: a summary is cut where it is long.
    if (ids.size() > 1)
      words = fmt::format("{} {}{} ", ids.size(), record.collection, named < ids.size() ? ", such as" : ":");
    for (std::size_t i = 0; i < named; ++i) words += (i == 0 ? "" : ", ") + name_of_record(account, record, ids[i]);
  }
  return names;
}

NewContent content_of(const HandlerOptions& options, const CheckedCall& call, const Governing& by,
                      const CheckedArguments& given) {
  const auto& capability = *call.capability;
  const auto& params = call.resolved.params;
  NewContent content;
  content.params_json = call.resolved.json;
  const auto shown = with_added(given.params, params);
  content.params_shown_json = canonical_json(shown);
  content.summary = summary_of(capability, shown, said_in_words(call, shown));
  content.target = target_of(capability, params);
  content.order = order_of(capability, params);
  content.tier = to_string(std::max(by.capability.tier, by.ruling.decision.tier));
  content.definition_version = call.definition->version;
  content.delay_ms = by.delay_ms;
  content.send_at_ms = given.send_at_ms;
  content.limits = rules_for(options, *call.definition, by.capability, params);
  for (auto& limit : limit_rules(by.ruling, params)) content.limits.push_back(std::move(limit));
  content.counts = by.ruling.counts;
  content.counted_as = by.capability.name;
  content.approvals_needed = by.ruling.approvals();
  content.approval_ms = by.ruling.decision.expires_ms;
  content.approval_reason = why_asked(by.capability);
  // The rule says more than the tier does.
  if (by.ruling.asks()) {
    content.approval_reason = why_ruled(by.ruling, capability.name);
    content.asked_by_json = tier_rule_json(by.ruling);
  }
  content.audited = audited_decision(by.ruling, {*call.definition, capability, by.capability}, by.agent, params);
  return content;
}

void edit_write(const HandlerContextPtr& context, EditRequest request,
                std::function<void(std::variant<WriteRecord, Error>)> done) {
  const auto edit = std::make_shared<Edit>();
  edit->request = std::move(request);
  edit->done = std::move(done);
  const auto first = std::make_shared<CheckedCall>();
  first->definition = std::make_shared<ServiceDefinition>();
  first->invocation.agent_id = edit->call->invocation.agent_id = edit->request.agent_id;
  run_on_worker(
      context, first, context->options.read_timeout_ms,
      [context, edit](const CallContextPtr&) {
        load(*context, *edit);
        return std::string();
      },
      [context, edit](WorkAnswer loaded) {
        if (auto* error = std::get_if<Error>(&loaded)) return edit->done(std::move(*error));
        run_on_worker(
            context, edit->call, context->options.read_timeout_ms,
            [edit](const CallContextPtr& on) {
              auto& call = *edit->call;
              call.resolved =
                  resolve_params(*call.account, on, edit->write.operation, params_of(call.arguments.params_json));
              call.names = names_for_summary(*call.account, *call.capability, call.resolved.params);
              must_stay(*call.capability, edit->changes, edit->write.params_json, call.resolved.params);
              return std::string();
            },
            [context, edit](WorkAnswer resolved) {
              if (auto* error = std::get_if<Error>(&resolved)) return edit->done(std::move(*error));
              submit(context, edit);
            });
      });
}

}  // namespace krux
