// Forms in which names in braces stand for values: what a call is about, what it goes out in order by, its summary.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/definition/definition.hpp"
#include "core/util/json.hpp"

namespace krux {

/// The template with what stands in braces replaced by what `value_of` gives for it.
template <class Value>
std::string filled(std::string_view form, Value value_of) {
  std::string text;
  for (std::size_t at = 0; at < form.size();) {
    const auto open = std::min(form.find('{', at), form.size());
    text += form.substr(at, open - at);
    if (open == form.size()) break;
    const auto close = std::min(form.find('}', open), form.size());
    text += value_of(form.substr(open + 1, close - open - 1));
    at = close + 1;
  }
  return text;
}

/// The template filled with parameters; empty where one of them has no value.
std::string filled_whole(const std::string& pattern, const JsonValue& params);

/// Ids of records: the template filled, or where it is one list alone, "{ids}", each of its entries once.
std::vector<std::string> ids_of(const std::string& pattern, const JsonValue& params);

/// The text at "from.address" of a record, of lists the first entry; empty: there is none.
std::string_view member_text(const JsonValue& json, std::string_view path);

/// What a call is about: the capability's target filled with resolved parameters. Empty when the capability names none,
/// or an input of it is not given.
std::string target_of(const CapabilityDefinition& capability, const JsonValue& params);
/// What a write goes out in order by, likewise; empty: in no order.
std::string order_of(const CapabilityDefinition& capability, const JsonValue& params);

/// "\"Plans\" from Ada (m1)", made of the record's members by a form such as "\"{subject}\" from {from.address}";
/// without words where it has none of them, as of no record (`record_json` empty): the id.
std::string record_in_words(std::string_view form, const std::string& id, std::string_view record_json);

/// At most so many bytes, and "..." where something was cut off.
std::string cut_short(std::string_view text, std::size_t most);

}  // namespace krux
