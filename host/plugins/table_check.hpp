// Whether the tables of an adapter's roles are in order, seen before anybody calls it. Used by the probe, in its own
// process.
#pragma once

#include <kruxos/abi/entry.h>

#include <optional>
#include <string>
#include <string_view>

#include "core/adapter/adapter_functions.hpp"

namespace krux {

struct TableCheck {
  std::string problem;                ///< a sentence about one that is not in order; empty otherwise
  std::optional<AdapterRoles> roles;  ///< what the adapter has, where they are in order
  std::string unknown;                ///< otherwise: why nobody could look at them, a sentence
};

/// Makes an adapter as it is made while an account is being verified, and looks at what it has; never destroys it. That
/// it cannot be made is no defect: it may need a configuration, or settings of the account. It has 3 s for it.
TableCheck check_tables(const krux_plugin_entry& entry, std::string_view describe_json);

std::string to_json(const TableCheck& check);
/// Throws krux::Error for what to_json() has not written.
TableCheck table_check_of(std::string_view json);

}  // namespace krux
