// kruxos/adapter/tables.hpp - fills the C tables from an author's class. Nothing in here is for authors to call.
#pragma once
#include <kruxos/abi/entry.h>
#include <kruxos/adapter/ask.hpp>
#include <kruxos/adapter/roles.hpp>

#include <concepts>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace kruxos::detail {

inline std::string to_json(const std::vector<NamedText>& texts) {
  std::string out = "[";
  for (const auto& text : texts) {
    if (out.back() != '[') out += ',';
    out += "{\"name\":" + detail::quoted(text.name) + (text.exact ? ",\"exact\":true}" : "}");
  }
  return out + ']';
}

/// {"collections": [...], "config_schema": {...}} as krux_plugin_entry.describe gives it.
inline std::string to_json(const Description& description) {
  std::string out = "{\"collections\":[";
  for (const auto& collection : description.collections) {
    if (out.back() != '[') out += ',';
    out += "{\"name\":" + detail::quoted(collection.name) + ",\"version\":" + std::to_string(collection.version) +
           ",\"order\":" + (collection.order == Order::kTime ? "\"time\"" : "\"key\"") +
           ",\"searchable\":" + (collection.searchable ? "true" : "false") + ",\"fields\":[";
    for (const auto& field : collection.fields) {
      if (out.back() != '[') out += ',';
      out += "{\"name\":" + detail::quoted(field.name) +
             ",\"type\":" + (field.type == FieldType::kText ? "\"text\"" : "\"integer\"") + '}';
    }
    out += ']';
    if (!collection.cursors.empty()) out += ",\"cursors\":" + detail::quoted(collection.cursors);
    if (collection.tags) out += ",\"tags\":true";
    if (!collection.texts.empty()) out += ",\"texts\":" + detail::to_json(collection.texts);
    out += '}';
  }
  out += ']';
  if (!description.acts_by_http) out += ",\"acts_by_http\":false";
  if (description.mock) out += ",\"mock\":true";
  if (!description.config_schema_json.empty()) out += ",\"config_schema\":" + description.config_schema_json;
  return out + '}';
}

inline std::string to_json(const Identity& identity) {
  std::string out = "{\"account_id\":" + detail::quoted(identity.account_id) +
                    ",\"display_name\":" + detail::quoted(identity.display_name) +
                    ",\"principal\":" + detail::quoted(identity.principal);
  if (identity.scopes) {
    out += ",\"scopes\":[";
    for (const auto& scope : *identity.scopes) out += (out.back() == '[' ? "" : ",") + detail::quoted(scope);
    out += ']';
  }
  return out + '}';
}

inline BufferedWrite from_abi_write(const krux_write* write) noexcept {
  return {from_abi(write->write_id),  from_abi(write->operation),  from_abi(write->params_json),
          from_abi(write->note_json), from_abi(write->point_json), write->attempt,
          write->created_at_ms,       write->first_attempt_at_ms};
}

inline RollbackRequest from_abi_request(const krux_rollback_request* request) noexcept {
  return {from_abi(request->rollback_id), from_abi(request->operation),   from_abi(request->params_json),
          from_abi(request->point_json),  from_abi(request->result_json), request->force != 0};
}

inline void give(krux_sync_step* out, const SyncStep& step) noexcept {
  out->next = step.next;
  out->wait_ms = step.wait_ms;
  out->complete_through_ms = step.complete_through_ms;
  out->parts_done = step.parts_done;
  out->parts_total = step.parts_total;
}

/// One constant table a role: no allocation, no registration, no static constructor. Every function is a guard around
/// the author's.
template <class Adapter>
struct Tables {
  static Adapter& of(void* self) noexcept { return *static_cast<Adapter*>(self); }

  static krux_status full_sync(void* self, const krux_call* call, const krux_sync_store* abi,
                               krux_sync_step* out) noexcept {
    return guard(call, [&] {
      SyncStore store(abi);
      give(out, of(self).full_sync(Call(call), store));
    });
  }
  static krux_status incremental_sync(void* self, const krux_call* call, const krux_sync_store* abi,
                                      std::int64_t last_sync_ms, krux_sync_step* out) noexcept {
    return guard(call, [&] {
      SyncStore store(abi);
      give(out, of(self).incremental_sync(Call(call), store, last_sync_ms));
    });
  }
  static krux_status read(void* self, const krux_call* call, const krux_reader* reader, krux_str capability,
                          krux_str params, const krux_sink* out) noexcept {
    return guard(call, [&] {
      try {
        emit(out, of(self).read(Call(call), Reader(reader), from_abi(capability), from_abi(params)));
      } catch (const InputRequired& input) {
        ask(call, input);
      }
    });
  }
  static krux_status resolve(void* self, const krux_call* call, const krux_reader* reader, krux_str operation,
                             krux_str params, const krux_sink* out) noexcept {
    return guard(
        call, [&] { emit(out, of(self).resolve(Call(call), Reader(reader), from_abi(operation), from_abi(params))); });
  }
  static krux_status execute_write(void* self, const krux_call* call, const krux_write* write,
                                   const krux_sink* out) noexcept {
    return guard(call, [&] { emit(out, of(self).execute_write(Call(call), from_abi_write(write))); });
  }
  static krux_status find_effect(void* self, const krux_call* call, const krux_write* write, std::int32_t* found,
                                 const krux_sink* out) noexcept {
    return guard(call, [&] {
      const EffectFound effect = of(self).find_effect(Call(call), from_abi_write(write));
      if (effect.answer == KRUX_EFFECT_FOUND) emit(out, effect.result_json);
      if (effect.answer == KRUX_CANNOT_TELL && !effect.why.empty()) emit(out, effect.why);
      *found = effect.answer;
    });
  }
  static std::int32_t supports_rollback(void* self, krux_str operation) noexcept {
    try {
      return of(self).supports_rollback(from_abi(operation)) ? 1 : 0;
    } catch (...) {
      return 0;
    }
  }
  static krux_status create_rollback_point(void* self, const krux_call* call, const krux_write* write,
                                           const krux_sink* out) noexcept {
    return guard(call, [&] { emit(out, of(self).create_rollback_point(Call(call), from_abi_write(write))); });
  }
  static krux_status rollback(void* self, const krux_call* call, const krux_rollback_request* request,
                              const krux_sink* out) noexcept {
    return guard(call, [&] { emit(out, of(self).rollback(Call(call), from_abi_request(request))); });
  }
  static krux_status find_rollback(void* self, const krux_call* call, const krux_rollback_request* request,
                                   std::int32_t* found) noexcept {
    return guard(call, [&] { *found = of(self).find_rollback(Call(call), from_abi_request(request)).answer; });
  }
  static krux_status clean_up(void* self, const krux_call* call, const krux_write* write) noexcept {
    return guard(call, [&] { of(self).clean_up(Call(call), from_abi_write(write)); });
  }
  static krux_status verify(void* self, const krux_call* call, const krux_sink* out) noexcept {
    return guard(call, [&] { emit(out, to_json(of(self).verify(Call(call)))); });
  }
  static krux_status revoke(void* self, const krux_call* call) noexcept {
    return guard(call, [&] { of(self).revoke(Call(call)); });
  }

  static const void* query(void*, const char* iid) noexcept {
    const auto is = [iid](const char* other) { return std::strcmp(iid, other) == 0; };
    if constexpr (std::is_base_of_v<SyncAdapter, Adapter>) {
      static constexpr krux_sync_adapter table{sizeof(krux_sync_adapter), 0, &full_sync, &incremental_sync};
      if (is(KRUX_IID_SYNC_ADAPTER)) return &table;
    }
    if constexpr (std::is_base_of_v<ReadAdapter, Adapter>) {
      static constexpr krux_read_adapter table{sizeof(krux_read_adapter), 0, &read, &resolve};
      if (is(KRUX_IID_READ_ADAPTER)) return &table;
    }
    if constexpr (std::is_base_of_v<WriteExecutor, Adapter>) {
      static constexpr krux_write_executor table{sizeof(krux_write_executor), 0, &execute_write, &find_effect};
      if (is(KRUX_IID_WRITE_EXECUTOR)) return &table;
    }
    if constexpr (std::is_base_of_v<RollbackCapable, Adapter>) {
      static constexpr krux_rollback_capable table{sizeof(krux_rollback_capable), 0,         &supports_rollback,
                                                   &create_rollback_point,        &rollback, &find_rollback};
      if (is(KRUX_IID_ROLLBACK_CAPABLE)) return &table;
    }
    if constexpr (std::is_base_of_v<CleanupCapable, Adapter>) {
      static constexpr krux_cleanup table{sizeof(krux_cleanup), 0, &clean_up};
      if (is(KRUX_IID_CLEANUP)) return &table;
    }
    if constexpr (std::is_base_of_v<AccountAdapter, Adapter>) {
      static constexpr krux_account_adapter table{sizeof(krux_account_adapter), 0, &verify, &revoke};
      if (is(KRUX_IID_ACCOUNT_ADAPTER)) return &table;
    }
    return nullptr;
  }
};

/// The author's object behind the table that the host holds.
template <class Adapter>
struct Instance : krux_adapter {
  Instance(Host host, const Account& account)
      : krux_adapter{sizeof(krux_adapter), 0, &adapter, &Tables<Adapter>::query, &destroy}, adapter(host, account) {}
  static void destroy(krux_adapter* self) noexcept { delete static_cast<Instance*>(self); }
  Adapter adapter;
};

template <class Adapter>
concept Described = requires {
  { Adapter::describe() } -> std::convertible_to<Description>;
};

template <class Adapter>
krux_status describe(const krux_sink* out) noexcept {
  static_assert(Described<Adapter> || !std::is_base_of_v<SyncAdapter, Adapter>,
                "an adapter that syncs needs: static kruxos::Description describe()");
  std::string text;
  try {
    Description description;
    if constexpr (Described<Adapter>) description = Adapter::describe();
    text = to_json(description);
  } catch (const std::exception& e) {
    const std::string_view why = e.what();
    return out->write(out->self, to_abi(why)), KRUX_INTERNAL;
  } catch (...) {
    return KRUX_INTERNAL;
  }
  return out->write(out->self, to_abi(text)) == 0 ? KRUX_OK : KRUX_CANCELLED;
}

template <class Adapter>
krux_adapter* create(const krux_host* host, const krux_call* call, const krux_account* account) noexcept {
  krux_adapter* made = nullptr;
  guard(call, [&] {
    Account mine{std::string(from_abi(account->account_id)), account->generation,
                 std::string(from_abi(account->scopes_json)), std::string(from_abi(account->config_json))};
    if (KRUX_HAS(krux_account, account, settings_json)) {
      mine.base_url = from_abi(account->base_url);
      mine.settings_json = from_abi(account->settings_json);
    }
    made = new Instance<Adapter>(Host(host), mine);
  });
  return made;
}

}  // namespace kruxos::detail
