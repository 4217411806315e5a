// kruxos/kit/cursor.hpp - what a sync keeps between its steps, by names: a later version of the adapter adds, takes
// away and moves members, and still reads what an earlier one has kept.
//
//   struct Pass {
//     std::int64_t number = 0;
//     Phase phase = Phase::kNew;
//     template <class Self, class Visit>
//     static void each(Self& self, Visit&& visit) {
//       visit("number", self.number);
//       visit("phase", self.phase);
//     }
//   };
//   auto pass = kit::load_cursor<Pass>(store, "pass");
//   kit::save_cursor(store, "pass", pass);
//
// Members: texts, whole numbers, bools, enums with names, structs that have each() themselves, and vectors of such
// structs. An enum's names stand beside it, in the order of its values from 0 on; a number is read as the value of that
// place:
//   constexpr std::array<std::string_view, 2> names_of(Phase) { return {"new", "steady"}; }
#pragma once
#include <kruxos/adapter/replica.hpp>
#include <kruxos/kit/json.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kruxos::kit {

template <class State>
std::string to_json(const State& state);
template <class State>
State state_of(const Json& object);

namespace detail {

template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<std::vector<T>> : std::true_type {};

class StateWriter {
 public:
  template <class T>
  void operator()(std::string_view name, const T& value) {
    if constexpr (std::same_as<T, std::string>) {
      out_.text(name, value);
    } else if constexpr (std::same_as<T, bool>) {
      out_.flag(name, value);
    } else if constexpr (std::integral<T>) {
      out_.integer(name, static_cast<std::int64_t>(value));
    } else if constexpr (std::is_enum_v<T>) {
      out_.text(name, names_of(value).at(static_cast<std::size_t>(value)));
    } else {
      out_.raw(name, to_json(value));
    }
  }
  std::string done() { return out_.done(); }

 private:
  ObjectWriter out_;
};

/// What is missing, or of another type, stays as it is.
class StateReader {
 public:
  explicit StateReader(const Json& object) : object_(object) {}

  template <class T>
  void operator()(std::string_view name, T& value) const {
    const auto* found = member(object_, name);
    if (!found) return;
    if constexpr (std::same_as<T, std::string>) {
      value = text_of(object_, name, value);
    } else if constexpr (std::same_as<T, bool>) {
      if (found->IsBool()) value = found->GetBool();
    } else if constexpr (std::integral<T>) {
      if (found->IsInt64() && std::in_range<T>(found->GetInt64())) value = static_cast<T>(found->GetInt64());
    } else if constexpr (std::is_enum_v<T>) {
      read_enum(*found, text_of(object_, name), value);
    } else {
      value = state_of<T>(*found);
    }
  }

 private:
  template <class T>
  static void read_enum(const Json& found, std::string_view text, T& value) {
    const auto names = names_of(value);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const bool placed = found.IsInt64() && found.GetInt64() == static_cast<std::int64_t>(i);
      if (placed || (found.IsString() && text == names[i])) value = static_cast<T>(i);
    }
  }

  const Json& object_;
};

}  // namespace detail

/// A state, or a vector of states, as JSON.
template <class State>
std::string to_json(const State& state) {
  if constexpr (detail::IsList<State>::value) {
    ArrayWriter out;
    for (const auto& one : state) out.raw(to_json(one));
    return out.done();
  } else {
    detail::StateWriter writer;
    State::each(state, writer);
    return writer.done();
  }
}

/// The state, or the vector of them, that the JSON has; as it begins, where it has none.
template <class State>
State state_of(const Json& json) {
  State state{};
  if constexpr (detail::IsList<State>::value) {
    if (!json.IsArray()) return state;
    for (const auto& one : json.GetArray()) state.push_back(state_of<typename State::value_type>(one));
  } else {
    State::each(state, detail::StateReader(json));
  }
  return state;
}

/// A cursor that is missing or does not parse was not written by this adapter: its part begins anew.
template <class State>
State load_cursor(const SyncStore& store, std::string_view name) {
  const auto json = parse(store.cursor(name).value_or("{}"));
  return json.HasParseError() ? State{} : state_of<State>(json);
}

template <class State>
void save_cursor(SyncStore& store, std::string_view name, const State& state) {
  store.set_cursor(name, to_json(state));
}

}  // namespace kruxos::kit
