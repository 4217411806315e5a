#include "core/capability/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/account/permission.hpp"
#include "core/capability/call_rules.hpp"
#include "core/capability/host_capabilities.hpp"
#include "core/capability/write_content.hpp"
#include "core/definition/json_schema.hpp"
#include "core/util/durations.hpp"
#include "core/util/error.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

/// Few lines a member: keys and values of one object after the other.
class Writer {
 public:
  template <class F>
  void object(F members) {
    json_.StartObject();
    members();
    json_.EndObject();
  }
  template <class List, class F>
  void list(const char* key, const List& items, F each) {
    json_.Key(key);
    json_.StartArray();
    for (const auto& item : items) each(item);
    json_.EndArray();
  }
  void texts(const char* key, const std::vector<std::string>& values) {
    list(key, values, [&](const std::string& value) { json_.String(value); });
  }
  void text(const char* key, std::string_view value) {
    json_.Key(key);
    put_text(json_, value);
  }
  void boolean(const char* key, bool value) {
    json_.Key(key);
    json_.Bool(value);
  }
  template <class Number>
  void number(const char* key, const std::optional<Number>& value) {
    if (!value) return;
    json_.Key(key);
    json_.Int64(static_cast<std::int64_t>(*value));
  }
  void seconds(const char* key, std::int64_t ms) {
    json_.Key(key);
    if (ms % 1000 == 0) {
      json_.Int64(ms / 1000);
    } else {
      json_.Double(static_cast<double>(ms) / 1000);
    }
  }
  void raw(const char* key, const std::string& json) {
    json_.Key(key);
    json_.RawValue(json.data(), json.size(), rapidjson::kObjectType);
  }
  JsonWriter& json() { return json_; }
  std::string done() const { return {buffer_.GetString(), buffer_.GetSize()}; }

 private:
  rapidjson::StringBuffer buffer_;
  JsonWriter json_{buffer_};
};

bool is_of_use(const CapabilityDefinition& capability, const ServiceDefinition& definition,
               const std::vector<ActiveAccountPtr>& accounts) {
  return std::any_of(accounts.begin(), accounts.end(), [&](const ActiveAccountPtr& account) {
    return account->ref.service == definition.service && !left_out(capability, *account) &&
           missing_scopes(capability, *account).empty();
  });
}

bool fits(const Listed& listed, const CatalogueFilter& filter) {
  const auto& c = *listed.capability;
  if (!filter.category.empty() && filter.category != category_of(listed)) return false;
  if (!filter.tag.empty() && std::find(c.tags.begin(), c.tags.end(), filter.tag) == c.tags.end()) return false;
  return filter.name_contains.empty() || c.name.find(filter.name_contains) != std::string::npos;
}

void write_summary(Writer& out, const Listed& listed) {
  const auto& c = *listed.capability;
  out.text("name", c.name);
  out.text("category", category_of(listed));
  out.text("kind", to_string(c.kind));
  out.text("permission_tier", to_string(listed.tier()));
  out.text("purpose", c.purpose);
  out.text("when_to_use", c.when_to_use);
  out.texts("tags", c.tags);
}

/// What a value must be, of an input or of each entry of one.
void write_bounds(Writer& out, const InputDefinition& value) {
  if (!value.one_of.empty()) out.texts("one_of", value.one_of);
  out.number("minimum", value.minimum);
  out.number("maximum", value.maximum);
  out.number("min_length", value.min_length);
  out.number("max_length", value.max_length);
}

void write_input(Writer& out, const InputDefinition& input) {
  out.object([&] {
    out.text("name", input.name);
    out.text("type", to_string(input.type));
    out.text("description", input.description);
    out.boolean("required", input.required);
    if (input.default_json) out.raw("default", *input.default_json);
    if (!input.aliases.empty()) out.texts("aliases", input.aliases);
    write_bounds(out, input);
    if (!input.items.empty()) {
      out.json().Key("items");
      out.object([&] {
        out.text("type", to_string(input.items[0].type));
        write_bounds(out, input.items[0]);
      });
    }
    if (input.nullable) out.boolean("nullable", true);
    if (input.uploads) out.boolean("uploads", true);
  });
}

InputDefinition host_input(const char* name, InputType type, std::string description) {
  InputDefinition input;
  input.name = name;
  input.type = type;
  input.description = std::move(description);
  return input;
}

void write_outputs(Writer& out, const char* key, const std::vector<OutputDefinition>& outputs);

void write_output(Writer& out, const OutputDefinition& output) {  // NOLINT(misc-no-recursion)
  out.object([&] {
    if (!output.name.empty()) out.text("name", output.name);
    out.text("type", to_string(output.type));
    if (!output.description.empty()) out.text("description", output.description);
    if (output.content) out.text("content", to_string(*output.content));
    if (!output.fields.empty()) write_outputs(out, "fields", output.fields);
    if (!output.items.empty()) {
      out.json().Key("items");
      write_output(out, output.items[0]);
    }
  });
}

void write_outputs(Writer& out, const char* key,  // NOLINT(misc-no-recursion)
                   const std::vector<OutputDefinition>& outputs) {
  out.list(key, outputs, [&](const OutputDefinition& output) { write_output(out, output); });
}

void write_limits(Writer& out, const Listed& listed) {
  std::vector<Limit> limits;
  for (const auto& limit : listed.definition->limits) {
    const auto& of = limit.operations;
    if (std::find(of.begin(), of.end(), listed.capability->name) != of.end()) limits.push_back(limit);
  }
  out.list("limits", limits, [&](const Limit& limit) {
    out.object([&] {
      out.number("limit", std::optional(limit.limit));
      out.seconds("window_seconds", limit.window_ms);
      if (!limit.key.empty()) out.text("per", limit.key);
    });
  });
}

void write_errors(Writer& out, const Listed& listed) {
  using enum ErrorCode;
  const auto kind = listed.capability->kind;
  std::vector<ErrorType> types{kInvalidInput};
  const auto may_end_with = [&](std::initializer_list<ErrorCode> codes) {
    types.insert(types.end(), codes.begin(), codes.end());
  };
  if (!is_hosts_own(listed)) may_end_with({kNotConnected, kServiceUnavailable});
  if (kind == CapabilityKind::kRead) may_end_with({kDatabaseError, kTimeout});
  if (kind == CapabilityKind::kCancel) may_end_with({kCannotCancel});
  const bool on_a_write = decides_on_a_write(*listed.capability);
  const bool notes = sets_state(listed);
  if (notes) may_end_with({kDatabaseError, kConflictError, kVersionConflict});
  if (kind == CapabilityKind::kDecide && !on_a_write && !notes) may_end_with({kDatabaseError, kRateLimited});
  if (on_a_write)
    may_end_with(
        {kConflictError, kBatchProtection, kApprovalRequired, kRollbackConflict, kRollbackExpired, kOutcomeUnknown});
  if (kind == CapabilityKind::kWrite)
    may_end_with({kDatabaseError, kConflictError, kWriteFailed, kOutcomeUnknown, kBatchProtection, kApprovalRequired,
                  kApprovalRejected, kWriteCancelled, kWriteDiscarded});
  for (const auto& [name, actions] : listed.definition->recovery) {
    const auto type = ErrorType::named(name);
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  }
  out.list("errors", types, [&](const ErrorType& type) {
    // The recovery is error_json's, so that both always say the same.
    const auto error = parse_json(error_json(Error(type, ""), listed.definition.get()), "an error");
    out.object([&] {
      out.text("type", type.name());
      out.raw("recovery", to_json(error["recovery"]));
    });
  });
}

}  // namespace

bool decides_on_a_write(const CapabilityDefinition& capability) {
  const auto& inputs = capability.inputs;
  return capability.kind == CapabilityKind::kDecide &&
         std::any_of(inputs.begin(), inputs.end(), [](auto& input) { return input.name == "write_id"; });
}

bool is_hosts_own(const Listed& listed) {
  return listed.definition == host_definition() || listed.definition == state_definition();
}

bool is_under_rules(const Listed& listed) {
  return listed.definition != host_definition();
}

bool sets_state(const Listed& listed) {
  return listed.capability->kind == CapabilityKind::kDecide && listed.definition == state_definition();
}

std::vector<std::shared_ptr<const ServiceDefinition>> own_definitions(const HandlerContext& context) {
  if (!context.options.state) return {host_definition()};
  return {host_definition(), state_definition()};
}

std::string category_of(const Listed& listed) {
  return is_hosts_own(listed) ? listed.capability->name.substr(0, listed.capability->name.find('.'))
                              : listed.definition->prefix;
}

std::vector<InputDefinition> all_inputs(const Offered& offered, WriteNames names) {
  const auto& listed = offered.listed;
  auto inputs = listed.capability->inputs;
  if (!is_hosts_own(listed))
    inputs.push_back(
        host_input("account", InputType::kString,
                   "Which account, by its name or id; without it the one named \"default\", or the only one."));
  if (listed.capability->kind != CapabilityKind::kWrite) return inputs;
  inputs.push_back(
      host_input("idempotency_key", InputType::kString,
                 "A text of your choice: another call with the same key is answered with the same write."));
  inputs.push_back(host_input("allow_duplicate", InputType::kBoolean, "True: even if the same was just asked for."));
  if (!runs_at_once(*listed.capability, offered.delay_ms))
    inputs.push_back(
        host_input("send_at", InputType::kDateTime,
                   names == WriteNames::kOne
                       ? "Not before then."
                       : fmt::format("When to do it instead of as soon as its delay is over: a time with its "
                                     "zone, at most {} days ahead. Until then it can be cancelled.",
                                     kLongestWindow / kDay)));
  return inputs;
}

std::vector<OutputDefinition> all_outputs(const Offered& offered, WriteNames names) {
  const auto& c = *offered.listed.capability;
  if (c.kind != CapabilityKind::kWrite || runs_at_once(c, offered.delay_ms)) return c.outputs;
  using enum InputType;
  // The same of each write: models are told once, in the host's instructions.
  if (names == WriteNames::kOne)
    return {{"write_id", "", kString},
            {"status", "", kString},
            {"cancel_deadline", "", kDateTime},
            {"duplicate_of", "", kString},
            {"result", "", kObject, c.outputs}};
  return {{"write_id", "For proxy.write_status and proxy.cancel_write.", kString},
          {"buffer_id", "The same value.", kString},
          {"status", "\"buffered\"; of an existing write (duplicate_of) its present state.", kString},
          {"buffer_until", "It will be done then; until then it can be cancelled.", kDateTime},
          {"scheduled_send", "The same time.", kDateTime},
          {"cancel_deadline", "The same time.", kDateTime},
          {"send_at", "Only of what is scheduled: what was asked for.", kDateTime},
          {"content_hash", "SHA-256 over account, operation, parameters and send_at.", kString},
          {"duplicate_of", "The write that asked for the same before; nothing new was begun.", kString},
          {"result", "Once done, as proxy.write_status shows it then.", kObject, c.outputs}};
}

std::vector<Listed> listed_capabilities(const HandlerContext& context, std::string_view agent) {
  const auto& accounts = context.accounts;
  const auto rules = rules_in_force(context);
  std::vector<std::shared_ptr<const ServiceDefinition>> definitions;
  for (const auto& service : accounts.services()) definitions.push_back(service.definition);
  for (const auto& own : own_definitions(context)) definitions.push_back(own);
  const auto connected = accounts.accounts();
  std::vector<Listed> listed;
  for (const auto& definition : definitions) {
    for (const auto& capability : definition->capabilities) {
      Listed one{definition, &capability};
      if (is_under_rules(one)) one.ruled = always_ruled(*rules, agent, capability).tier;
      if (one.tier() != Tier::kBlocked && (is_hosts_own(one) || is_of_use(capability, *definition, connected)))
        listed.push_back(one);
    }
  }
  return listed;
}

std::string summaries_json(const std::vector<Listed>& listed, const CatalogueFilter& filter) {
  Writer out;
  out.json().StartArray();
  for (const auto& item : listed) {
    if (fits(item, filter)) out.object([&] { write_summary(out, item); });
  }
  out.json().EndArray();
  return out.done();
}

std::string description_json(const Offered& offered) {
  Writer out;
  const auto& listed = offered.listed;
  const auto& c = *listed.capability;
  out.object([&] {
    write_summary(out, listed);
    out.list("inputs", all_inputs(offered, WriteNames::kAll),
             [&](const InputDefinition& input) { write_input(out, input); });
    if (!c.one_input_of.empty()) {
      out.list("one_input_of", c.one_input_of, [&](const std::vector<std::string>& group) {
        out.json().StartArray();
        for (const auto& name : group) out.json().String(name);
        out.json().EndArray();
      });
    }
    if (c.schema) out.raw("schema", to_json(c.schema->document()));
    if (c.takes_long != TakesLong::kNo) out.seconds("takes_up_to_seconds", listed.definition->call_timeout_ms);
    write_outputs(out, "outputs", all_outputs(offered, WriteNames::kAll));
    if (c.kind == CapabilityKind::kWrite) {
      out.seconds("delay_seconds", offered.delay_ms);
      out.boolean("undoable", c.undoable);
      out.boolean("destructive", c.destructive);
      write_limits(out, listed);
    }
    if (!c.required_scopes.empty()) out.texts("required_scopes", c.required_scopes);
    write_errors(out, listed);
  });
  return out.done();
}

}  // namespace krux
