// Functions as types, and lists of them: what adapter_functions.hpp is written in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace krux {

/// A text as a template's argument: "read".
struct FunctionName {
  template <std::size_t size>
  consteval FunctionName(const char (&name)[size]) {
    std::copy_n(name, size, text);
  }
  constexpr std::string_view view() const { return text; }
  char text[32]{};
};

template <class Table, class Field>
Table table_of(Field Table::*);

/// One function: its name, the member of the C table that it enters, and what it takes and gives. `extras`: see
/// FunctionExtras.
template <FunctionName name, auto entry, class Signature, auto extras>
struct ListedFunction;

template <FunctionName name, auto entry, class Given, class... Arguments, auto extras>
struct ListedFunction<name, entry, Given(Arguments...), extras> {
  using Signature = Given(Arguments...);
  using Result = Given;
  using Table = decltype(table_of(entry));  ///< its role's
  static constexpr auto kFunctionName = name;
  static constexpr const char* kName = name.text;
  static constexpr auto kEntry = entry;
  static constexpr auto kExtras = extras;
};

template <class... Functions>
struct FunctionList {
  static constexpr std::size_t kCount = sizeof...(Functions);

  template <std::size_t number>
  using At = std::tuple_element_t<number, std::tuple<Functions...>>;

  /// Its place in the list; kCount where there is none of that name.
  static constexpr std::size_t number_of(std::string_view name) {
    std::size_t number = 0;
    const bool found = ((name == Functions::kName || (++number, false)) || ...);
    return found ? number : kCount;
  }
};

}  // namespace krux
