// The one list of what an adapter can be asked. Made from it: what core calls (ServiceAdapter), the meters
// (host/plugins/metered_adapter), the checks of the C tables and the calls through them (host/plugins/abi_bridge), and
// both ends of the way into a process of its own (host/runner). A function is one line here and one member of a table
// of plugin-api/include/kruxos/abi; a type that no function had is written once more for each crossing:
// host/plugins/abi_bridge/crossing.hpp (the C tables) and host/runner/wire_function.hpp (frames).
#pragma once

#include <kruxos/abi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/adapter/function_list.hpp"

namespace krux {

class SyncSession;    // core/replica/sync_session.hpp
class ReplicaReader;  // core/replica/replica_reader.hpp
struct SyncStep;      // these: core/adapter/service_adapter.hpp
struct AdapterWrite;
struct EffectFound;
struct RollbackRequest;
struct Identity;

/// Which tables the adapter has, and of the functions that a table may lack, which.
struct AdapterRoles {
  bool sync = false, read = false, write = false, rollback = false, account = false, cleanup = false;
  bool resolve = false;
};

/// A role by its table.
template <class Table>
struct AdapterRole;
template <FunctionName name, FunctionName iid, bool AdapterRoles::*has>
struct RoleOf {
  static constexpr const char *kName = name.text, *kIid = iid.text;
  static constexpr auto kHas = has;
};
template <>
struct AdapterRole<krux_sync_adapter> : RoleOf<"sync", KRUX_IID_SYNC_ADAPTER, &AdapterRoles::sync> {};
template <>
struct AdapterRole<krux_read_adapter> : RoleOf<"read", KRUX_IID_READ_ADAPTER, &AdapterRoles::read> {};
template <>
struct AdapterRole<krux_write_executor> : RoleOf<"write", KRUX_IID_WRITE_EXECUTOR, &AdapterRoles::write> {};
template <>
struct AdapterRole<krux_rollback_capable> : RoleOf<"rollback", KRUX_IID_ROLLBACK_CAPABLE, &AdapterRoles::rollback> {};
template <>
struct AdapterRole<krux_cleanup> : RoleOf<"cleanup", KRUX_IID_CLEANUP, &AdapterRoles::cleanup> {};
template <>
struct AdapterRole<krux_account_adapter> : RoleOf<"account", KRUX_IID_ACCOUNT_ADAPTER, &AdapterRoles::account> {};
using AdapterTables = std::tuple<const krux_sync_adapter*, const krux_read_adapter*, const krux_write_executor*,
                                 const krux_rollback_capable*, const krux_cleanup*, const krux_account_adapter*>;

/// `body` with the AdapterRole of each.
template <class Body>
constexpr void for_each_role(Body&& body) {
  std::apply([&]<class... Tables>(const Tables*...) { (body(AdapterRole<Tables>{}), ...); }, AdapterTables{});
}

/// What is not as usual with a function.
struct FunctionExtras {
  bool notes = false;        ///< krux_call.remember works
  bool uploads = false;      ///< may read the files that agents have attached to the write
  bool on_schedule = false;  ///< where its process is not there, the write waits as it would for its next attempt
  bool small = false;        ///< its JSON object has at most 64 KiB, where others have 8 MiB
  bool AdapterRoles::*optional = nullptr;  ///< its table may lack it; whether it does
};

template <FunctionName name, auto entry, class Signature, FunctionExtras extras = FunctionExtras{}>
using AdapterFunction = ListedFunction<name, entry, Signature, extras>;

using SessionPtr = std::shared_ptr<SyncSession>;
using ReaderPtr = std::shared_ptr<ReplicaReader>;
using Extras = FunctionExtras;

/// JSON is one valid object. What is lent (sessions, readers) is kept by the callee until the adapter's code has really
/// returned.
using AdapterFunctionList = FunctionList<
    AdapterFunction<"full_sync", &krux_sync_adapter::full_sync, SyncStep(const SessionPtr& store)>,
    AdapterFunction<"incremental_sync", &krux_sync_adapter::incremental_sync,
                    SyncStep(const SessionPtr& store, std::int64_t last_sync_ms)>,

    AdapterFunction<"read", &krux_read_adapter::read,
                    std::string(const ReaderPtr& reader, std::string_view capability, std::string_view params_json)>,
    // params_json itself when the adapter has nothing to resolve
    AdapterFunction<"resolve", &krux_read_adapter::resolve,
                    std::string(const ReaderPtr& reader, std::string_view operation, std::string_view params_json),
                    Extras{.optional = &AdapterRoles::resolve}>,

    AdapterFunction<"execute_write", &krux_write_executor::execute_write, std::string(const AdapterWrite& write),
                    Extras{.notes = true, .uploads = true, .on_schedule = true}>,
    AdapterFunction<"find_effect", &krux_write_executor::find_effect, EffectFound(const AdapterWrite& write),
                    Extras{.uploads = true}>,

    // false where the adapter cannot undo anything
    AdapterFunction<"supports_rollback", &krux_rollback_capable::supports_rollback, bool(std::string_view operation),
                    Extras{.on_schedule = true}>,
    AdapterFunction<"create_rollback_point", &krux_rollback_capable::create_rollback_point,
                    std::string(const AdapterWrite& write), Extras{.on_schedule = true, .small = true}>,
    AdapterFunction<"rollback", &krux_rollback_capable::rollback, std::string(const RollbackRequest& request),
                    Extras{.on_schedule = true}>,
    AdapterFunction<"find_rollback", &krux_rollback_capable::find_rollback,
                    EffectFound(const RollbackRequest& request)>,

    // takes away what the attempts of a write have left that will not be carried out; KRUX_NOT_FOUND where it is gone
    AdapterFunction<"clean_up", &krux_cleanup::clean_up, bool(const AdapterWrite& write), Extras{.on_schedule = true}>,

    AdapterFunction<"verify", &krux_account_adapter::verify, Identity()>,
    AdapterFunction<"revoke", &krux_account_adapter::revoke, bool()>>;

/// One of them, by its name: Fn<"read">. A short name of its own for what the list says of it.
template <FunctionName name>
struct Fn : AdapterFunctionList::At<AdapterFunctionList::number_of(name.view())> {
  static constexpr std::size_t kNumber = AdapterFunctionList::number_of(name.view());

  /// Where the adapter has it.
  static constexpr bool AdapterRoles::*has() {
    if constexpr (Fn::kExtras.optional != nullptr) {
      return Fn::kExtras.optional;
    } else {
      return AdapterRole<typename Fn::Table>::kHas;
    }
  }
};
template <std::size_t number>
using FnAt = Fn<AdapterFunctionList::At<number>::kFunctionName>;

/// All of them, in order.
struct AdapterFunctions {
  static constexpr std::size_t kCount = AdapterFunctionList::kCount;

  template <class Body>
  static constexpr void for_each(Body&& body) {
    [&]<std::size_t... numbers>(std::index_sequence<numbers...>) {
      (body(FnAt<numbers>{}), ...);
    }
    (std::make_index_sequence<kCount>());
  }
  /// Only the one of that number, where there is one.
  template <class Body>
  static constexpr void at(std::size_t number, Body&& body) {
    for_each([&]<class Function>(Function function) {
      if (Function::kNumber == number) body(function);
    });
  }
};

}  // namespace krux
