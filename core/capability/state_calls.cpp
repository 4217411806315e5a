#include "core/capability/state_calls.hpp"

#include <fmt/format.h>

#include <span>

#include "core/capability/call_rules.hpp"
#include "core/capability/host_capability.hpp"
#include "core/capability/read_call.hpp"
#include "core/capability/state_json.hpp"
#include "core/state/agent_history.hpp"
#include "core/state/agent_state.hpp"
#include "core/state/agents.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

/// Makes an answer of its entries from a call that the rules have let.
using StateWork = std::string (*)(const HandlerContext&, const CheckedCall&);

const StateSpace kShared{};

AgentState& state_of(const HandlerContext& context) {
  return *context.options.state;
}

StateSpace own_space(const CheckedCall& call) {
  return {call.invocation.agent_id};
}

SessionState::Of session_space(const HandlerContext& context, const CheckedCall& call) {
  return {call.invocation.agent_id, session_of(context, call)};
}

std::string checked_key(const CheckedCall& call) {
  auto key = text_argument(call, "key");
  if (const auto why = why_not_state_key(key); !why.empty())
    throw invalid_input(fmt::format("{}: \"key\" {}.", call.capability->name, why));
  return key;
}

std::string checked_prefix(const CheckedCall& call) {
  auto prefix = text_argument(call, "prefix");
  if (const auto why = why_not_state_prefix(prefix); !why.empty())
    throw invalid_input(fmt::format("{}: \"prefix\" {}.", call.capability->name, why));
  return prefix;
}

std::string checked_value(const HandlerContext& context, const CheckedCall& call) {
  auto value = to_json(*find_member(call.arguments.params, "value"));
  must_fit_value(state_of(context).kept.limits(), value);
  return value;
}

std::optional<std::int64_t> number_argument(const CheckedCall& call, const char* name) {
  return find_int(call.arguments.params, name);
}

std::int64_t limit_of(const CheckedCall& call) {
  return number_argument(call, "limit").value_or(1);
}

bool wants_details(const CheckedCall& call) {
  return find_bool(call.arguments.params, "details").value_or(false);
}

/// With one more than fit on the page, if there are.
StateListing listing_of(const CheckedCall& call) {
  return {checked_prefix(call), text_argument(call, "after"), limit_of(call) + 1};
}

StateTeller among_agents(const HandlerContext& context) {
  return {[&context](const std::string& id) { return agent_name_of(context, id); }};
}

std::string entry_json(const StateTeller& teller, const std::string& key, const std::optional<StateEntry>& entry) {
  return json_object([&](JsonWriter& out) {
    put(out, "found", entry.has_value());
    if (entry) return teller.put_whole(out, *entry);
    put(out, "key", key);
  });
}

std::string set_json(const std::string& key, std::int64_t version, std::int64_t at_ms) {
  return json_object([&](JsonWriter& out) {
    put(out, "key", key);
    put(out, "version", version);
    put(out, "updated_at", format_time(at_ms));
  });
}

std::string deleted_json(const std::string& key, bool deleted) {
  return json_object([&](JsonWriter& out) {
    put(out, "key", key);
    put(out, "deleted", deleted);
  });
}

/// On a worker, once the rules have let it.
void answer_under_rules(const HandlerContextPtr& context, const CheckedCallPtr& call, StateWork work) {
  answer_on_worker(context, call, [work](const HandlerContext& c, const CheckedCall& one) {
    must_be_allowed_here(c, one);
    auto told = work(c, one);
    note_call(c, one, c.clock.wall_ms());
    return told;
  });
}

/// The same of what other agents have written: noted as read, and told as the words of others.
void answer_words_of_others(const HandlerContextPtr& context, const CheckedCallPtr& call, StateWork work) {
  run_on_worker(
      context, call, context->options.read_timeout_ms,
      [context, call, work](const CallContextPtr& on) {
        must_be_allowed_here(*context, *call);
        auto told = sized_for(*call, work(*context, *call));
        note_read(*context, *call, on, told);
        return told;
      },
      [call](WorkAnswer told) {
        if (const auto* error = std::get_if<Error>(&told)) return call->fail(*error);
        call->succeed(std::move(std::get<std::string>(told)), Words::kOfOthers);
      });
}

/// What is asked for is checked on a worker, once the rules have let it, and committed from there.
void write_under_rules(const HandlerContextPtr& context, const CheckedCallPtr& call, const StateSpace& space,
                       bool deletes) {
  const auto write = std::make_shared<StateWrite>();
  run_on_worker(
      context, call, context->options.read_timeout_ms,
      [context, call, space, deletes, write](const CallContextPtr&) {
        must_be_allowed_here(*context, *call);
        *write = {space, call->invocation.agent_id, checked_key(*call)};
        if (!deletes) write->value_json = checked_value(*context, *call);
        write->expected_version = number_argument(*call, "expected_version");
        write->idempotency_key = call->arguments.idempotency_key;
        return std::string();
      },
      [context, call, write, deletes](WorkAnswer made) {
        if (const auto* error = std::get_if<Error>(&made)) return call->fail(*error);
        if (call->invocation.is_given_up()) return call->fail(given_up());
        const auto key = write->key;
        state_of(*context).kept.write(std::move(*write), [context, call, key, deletes](const auto& outcome) {
          if (const auto* error = std::get_if<Error>(&outcome)) return call->fail(*error);
          const auto& written = std::get<StateWritten>(outcome);
          note_call(*context, *call, written.at_ms);
          call->succeed(deletes ? deleted_json(key, written.version > 0)
                                : set_json(key, written.version, written.at_ms));
        });
      });
}

}  // namespace

void run_session_get(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  answer_under_rules(context, call, [](const auto& c, const auto& one) {
    const auto key = checked_key(one);
    return sized_for(one, entry_json({}, key, state_of(c).of_sessions->get(session_space(c, one), key)));
  });
}

void run_session_set(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  answer_under_rules(context, call, [](const auto& c, const auto& one) {
    const auto key = checked_key(one);
    const auto space = session_space(c, one);
    auto& of_sessions = *state_of(c).of_sessions;
    const auto entry = of_sessions.set(space, key, checked_value(c, one));
    // It may have ended while the call waited for its turn: then nobody else takes this away again.
    if (!c.records.sessions.use(space.session_id, space.agent_id)) {
      of_sessions.session_ended(space.agent_id, space.session_id);
      throw session_ended(one);
    }
    return set_json(key, entry.version, entry.updated_at_ms);
  });
}

void run_session_delete(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  answer_under_rules(context, call, [](const auto& c, const auto& one) {
    const auto key = checked_key(one);
    return deleted_json(key, state_of(c).of_sessions->remove(session_space(c, one), key));
  });
}

void run_session_list(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  answer_under_rules(context, call, [](const auto& c, const auto& one) {
    const auto entries = state_of(c).of_sessions->list(session_space(c, one), listing_of(one));
    return sized_for(one, keys_json({}, entries, limit_of(one), wants_details(one)));
  });
}

void run_session_clear(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  answer_under_rules(context, call, [](const auto& c, const auto& one) {
    const auto gone = state_of(c).of_sessions->clear(session_space(c, one), checked_prefix(one));
    return json_object([&](JsonWriter& out) { put(out, "cleared", gone); });
  });
}

void run_persistent_get(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  answer_under_rules(context, call, [](const auto& c, const auto& one) {
    const auto key = checked_key(one);
    const auto version = number_argument(one, "version").value_or(0);
    return sized_for(one, entry_json({}, key, state_of(c).kept.get(own_space(one), key, version)));
  });
}

void run_persistent_set(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  write_under_rules(context, call, own_space(*call), false);
}

void run_persistent_delete(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  write_under_rules(context, call, own_space(*call), true);
}

void run_persistent_list(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  answer_under_rules(context, call, [](const auto& c, const auto& one) {
    const auto entries = state_of(c).kept.list(own_space(one), listing_of(one));
    return sized_for(one, keys_json({}, entries, limit_of(one), wants_details(one)));
  });
}

void run_persistent_query(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  answer_under_rules(context, call, [](const auto& c, const auto& one) {
    auto listing = listing_of(one);
    listing.with_values = true;
    listing.contains = text_argument(one, "contains");
    const auto time = [&](const char* name) {
      const auto text = text_argument(one, name);
      return text.empty() ? 0 : parse_time(text, name);
    };
    listing.since_ms = time("since");
    listing.until_ms = time("until");
    const auto entries = state_of(c).kept.list(own_space(one), listing);
    const auto shown = page_size(entries, limit_of(one));
    return sized_for(one, json_object([&](JsonWriter& out) {
                       put_objects(out, "entries", std::span(entries).first(shown),
                                   [&](const StateEntry& entry) { StateTeller().put_whole(out, entry); });
                       put(out, "more", shown < entries.size());
                       if (shown < entries.size()) put(out, "next_after", entries[shown - 1].key);
                     }));
  });
}

void run_persistent_history(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  answer_under_rules(context, call, [](const auto& c, const auto& one) {
    const auto key = checked_key(one);
    const auto limit = limit_of(one);
    const auto versions =
        state_of(c).kept.history(own_space(one), key, limit + 1, number_argument(one, "before").value_or(0));
    const auto shown = page_size(versions, limit);
    return sized_for(one, json_object([&](JsonWriter& out) {
                       put(out, "key", key);
                       put_objects(out, "versions", std::span(versions).first(shown), [&](const StateEntry& entry) {
                         put(out, "version", entry.version);
                         put(out, "updated_at", format_time(entry.updated_at_ms));
                         put_raw(out, "value", entry.value_json);
                       });
                       put(out, "more", shown < versions.size());
                       if (shown < versions.size()) put(out, "next_before", versions[shown - 1].version);
                     }));
  });
}

void run_shared_get(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  answer_words_of_others(context, call, [](const auto& c, const auto& one) {
    const auto key = checked_key(one);
    const auto entry = state_of(c).kept.get(kShared, key);
    return json_object([&](JsonWriter& out) {
      put(out, "found", entry.has_value());
      if (!entry) return put(out, "key", key);
      among_agents(c).put_whole(out, *entry);
      put(out, "content_trust", "untrusted");
    });
  });
}

void run_shared_set(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  write_under_rules(context, call, kShared, false);
}

void run_shared_delete(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  write_under_rules(context, call, kShared, true);
}

void run_shared_list(const HandlerContextPtr& context, const CheckedCallPtr& call) {
  answer_words_of_others(context, call, [](const auto& c, const auto& one) {
    const auto entries = state_of(c).kept.list(kShared, listing_of(one));
    return keys_json(among_agents(c), entries, limit_of(one), wants_details(one));
  });
}

}  // namespace krux
