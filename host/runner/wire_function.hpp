// How what a function of an adapter takes and gives travels, by its types. What the host lends (a session, a reader)
// does not: the host keeps it, and the runner makes its own that asks for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/adapter/service_adapter.hpp"
#include "host/plugins/abi_bridge/limits.hpp"
#include "host/runner/wire_types.hpp"

namespace krux {

/// A function's number in a kCall is its place in the list; behind them comes what makes the adapter.
inline constexpr std::uint8_t kAskCreate = AdapterFunctions::kCount;

inline void put_value(WireWriter& out, std::int64_t value) {
  out.i64(value);
}
inline void put_value(WireWriter& out, bool value) {
  out.flag(value);
}
inline void put_value(WireWriter& out, std::string_view text) {
  out.text(text);
}
inline void put_value(WireWriter& out, const std::string& json) {
  out.text(json);
}
inline void put_value(WireWriter& out, const AdapterWrite& write) {
  put_write(out, write);
}
inline void put_value(WireWriter& out, const RollbackRequest& request) {
  put_rollback(out, request);
}
inline void put_value(WireWriter& out, const SyncStep& step) {
  put_step(out, step);
}
inline void put_value(WireWriter& out, const EffectFound& found) {
  put_found(out, found);
}
inline void put_value(WireWriter& out, const Identity& identity) {
  put_identity(out, identity);
}

/// An argument.
template <class Value>
Value get_value(WireReader& in);
template <>
inline std::int64_t get_value(WireReader& in) {
  return in.i64();
}
template <>
inline std::string_view get_value(WireReader& in) {
  return in.text(kLargestFrame);
}
template <>
inline AdapterWrite get_value(WireReader& in) {
  return get_write(in);
}
template <>
inline RollbackRequest get_value(WireReader& in) {
  return get_rollback(in);
}

/// A result; strings are JSON objects.
template <class Value>
Value get_result(WireReader& in, std::size_t largest);
template <>
inline bool get_result(WireReader& in, std::size_t) {
  return in.flag();
}
template <>
inline std::string get_result(WireReader& in, std::size_t largest) {
  return get_object(in, largest);
}
template <>
inline SyncStep get_result(WireReader& in, std::size_t) {
  return get_step(in);
}
template <>
inline EffectFound get_result(WireReader& in, std::size_t) {
  return get_found(in);
}
template <>
inline Identity get_result(WireReader& in, std::size_t) {
  return get_identity(in);
}

}  // namespace krux
