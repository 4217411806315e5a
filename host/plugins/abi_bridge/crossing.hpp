// How values cross the boundary while a function of the adapter runs: what it is handed (Handed) and what it fills in
// (Awaited), each by its type. A function whose types are here needs nothing else (core/adapter/adapter_functions.hpp).
#pragma once

#include <kruxos/abi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/adapter/service_adapter.hpp"
#include "host/plugins/abi_bridge/answers.hpp"
#include "host/plugins/abi_bridge/lent_reader.hpp"
#include "host/plugins/abi_bridge/lent_store.hpp"
#include "host/plugins/abi_bridge/limits.hpp"

namespace krux {

using Collections = std::vector<CollectionSpec>;

/// An argument as the adapter's C function takes it, valid as long as this.
template <class Argument>
class Handed;

template <>
class Handed<std::int64_t> {
 public:
  Handed(std::int64_t value, LentCall&, const Collections&) : value_(value) {}
  std::int64_t abi() const { return value_; }

 private:
  const std::int64_t value_;
};

template <>
class Handed<std::string_view> {
 public:
  Handed(std::string_view text, LentCall&, const Collections&) : text_(to_abi(text)) {}
  krux_str abi() const { return text_; }

 private:
  const krux_str text_;
};

template <>
class Handed<AdapterWrite> {
 public:
  Handed(const AdapterWrite& write, LentCall&, const Collections&)
      : write_{sizeof(krux_write),        write.attempt,           to_abi(write.write_id),   to_abi(write.operation),
               to_abi(write.params_json), to_abi(write.note_json), to_abi(write.point_json), write.created_at_ms,
               write.first_attempt_at_ms} {}
  const krux_write* abi() const { return &write_; }

 private:
  const krux_write write_;
};

template <>
class Handed<RollbackRequest> {
 public:
  Handed(const RollbackRequest& request, LentCall&, const Collections&)
      : request_{sizeof(krux_rollback_request), request.force,
                 to_abi(request.rollback_id),   to_abi(request.operation),
                 to_abi(request.params_json),   to_abi(request.point_json),
                 to_abi(request.result_json)} {}
  const krux_rollback_request* abi() const { return &request_; }

 private:
  const krux_rollback_request request_;
};

template <>
class Handed<SessionPtr> {
 public:
  Handed(const SessionPtr& session, LentCall& call, const Collections& collections)
      : store_(call, session, collections) {}
  const krux_sync_store* abi() const { return store_.table(); }

 private:
  const LentStore store_;
};

template <>
class Handed<ReaderPtr> {
 public:
  Handed(const ReaderPtr& reader, LentCall& call, const Collections& collections)
      : reader_(call, reader, collections) {}
  const krux_reader* abi() const { return reader_.table(); }

 private:
  const LentReader reader_;
};

/// What the adapter's C function fills in: out() are its last arguments, and value() is what it means by them.
template <class Function, class Result = typename Function::Result>
class Awaited;

/// Nothing: that it went well is the answer.
template <class Function>
class Awaited<Function, bool> {
 public:
  std::tuple<> out() { return {}; }
  CallResult<bool> value(const LentCall& call, krux_status status) {
    if (status != KRUX_OK) return call.failure(status);
    return true;
  }
};

template <class Function>
class Awaited<Function, SyncStep> {
 public:
  Awaited() { step_.size = sizeof(step_); }
  std::tuple<krux_sync_step*> out() { return {&step_}; }
  CallResult<SyncStep> value(const LentCall& call, krux_status status) { return read_step(call, status, step_); }

 private:
  krux_sync_step step_{};
};

template <class Function>
class Awaited<Function, std::string> {
 public:
  std::tuple<const krux_sink*> out() { return {object_.table()}; }
  CallResult<std::string> value(const LentCall& call, krux_status status) {
    return read_object(call, status, object_, Function::kName);
  }

 private:
  BoundedSink object_{limits::largest_object(Function::kExtras.small)};
};

template <class Table, class... Arguments>
constexpr bool ends_with_sink(krux_status (*Table::*)(Arguments...) noexcept) {
  return std::is_same_v<std::tuple_element_t<sizeof...(Arguments) - 1, std::tuple<Arguments...>>, const krux_sink*>;
}

/// What was found: with its result, where the function gives one.
template <class Function>
class Awaited<Function, EffectFound> {
  static constexpr bool kGivesResult = ends_with_sink(Function::kEntry);

 public:
  auto out() {
    if constexpr (kGivesResult) {
      return std::tuple(&found_, result_.table());
    } else {
      return std::tuple(&found_);
    }
  }
  CallResult<EffectFound> value(const LentCall& call, krux_status status) {
    return read_found(call, status, found_, kGivesResult ? &result_ : nullptr, Function::kName);
  }

 private:
  std::int32_t found_ = KRUX_CANNOT_TELL;
  BoundedSink result_{limits::largest_object(Function::kExtras.small)};
};

template <class Function>
class Awaited<Function, Identity> {
 public:
  std::tuple<const krux_sink*> out() { return {object_.table()}; }
  CallResult<Identity> value(const LentCall& call, krux_status status) { return read_identity(call, status, object_); }

 private:
  BoundedSink object_{limits::kLargestIdentity};
};

}  // namespace krux
