// Records and conditions of an adapter in this program, as the replica takes them.
#pragma once

#include <algorithm>
#include <kruxos/adapter.hpp>
#include <variant>

#include "core/replica/collection.hpp"

namespace krux::bench {

inline Record record(const kruxos::Record& from) {
  Record to;
  to.collection = from.collection;
  to.id = from.id;
  to.json = from.json;
  to.text = from.text;
  to.order_ms = from.order_ms;
  for (const auto& [name, value] : from.fields) {
    std::visit([&](const auto& v) { to.fields.emplace_back(name, v); }, value);
  }
  to.tags = from.tags;
  to.texts = from.texts;
  return to;
}

inline Condition condition(const kruxos::Condition& from) {
  Condition to;
  to.kind = static_cast<Condition::Kind>(from.kind - KRUX_ALL_OF);
  to.op = static_cast<Condition::Op>(std::max(0, from.op - KRUX_EQ));
  to.field = from.field;
  to.text = from.text;
  to.number = from.number;
  for (const auto& child : from.children) to.children.push_back(condition(child));
  return to;
}

}  // namespace krux::bench
