// One write, whole, with what can be decided about it.
#pragma once

#include <cstdint>
#include <string>

#include "core/util/json.hpp"
#include "host/gateway/form_values.hpp"
#include "host/web/page_frame.hpp"

namespace krux::web {

enum class Extent {
  kShort,
  kWhole,  ///< as far as a page goes
};

/// `write`: as the host shows it, with its history.
ServerResponse write_page(const JsonValue& write, const PagePlace& place, Extent extent, const Notice& notice,
                          std::int64_t now_ms);

/// Whether the page offers to edit it: not begun, and small enough for a form.
bool can_be_edited(const JsonValue& write);
/// The fields of the form that edits it, one for each parameter.
std::string edit_form(const JsonValue& write, const PagePlace& place, bool cut);
/// The parameters that such a form changes, as a JSON object; "{}": none. Throws krux::Error InvalidInput for a value
/// that is no JSON where JSON stood.
std::string changes_of(const JsonValue& write, const FormValues& form);

}  // namespace krux::web
