#include "host/plugins/abi_bridge/lent_record.hpp"

#include <fmt/format.h>

#include "core/util/error.hpp"
#include "host/plugins/abi_bridge/edge.hpp"
#include "host/plugins/abi_bridge/limits.hpp"

namespace krux {
namespace {

using namespace limits;

/// Empty, and why in `too_large`, where there is more than `max`.
std::string bounded(krux_str bytes, std::string_view what, std::size_t max, std::string& too_large) {
  if (bytes.len <= max) return std::string(bytes_of(bytes, what, max));
  if (too_large.empty()) too_large = fmt::format("{} has {} bytes, at most {} are possible", what, bytes.len, max);
  return {};
}

/// Which of its two values a krux_field carries, its collection says.
FieldSpec::Type type_of(const std::vector<CollectionSpec>& collections, std::string_view collection,
                        std::string_view name) {
  for (const auto& spec : collections) {
    if (spec.name != collection) continue;
    for (const auto& declared : spec.fields) {
      if (declared.name == name) return declared.type;
    }
  }
  throw invalid_input(fmt::format("The adapter has declared no field {} of a collection {}.", name, collection));
}

void take_fields(const krux_record& given, const std::vector<CollectionSpec>& collections, GivenRecord& out) {
  if (given.field_count > kMostFields || (given.field_count > 0 && !given.fields)) {
    throw invalid_input(fmt::format("A record has at most {} fields.", kMostFields));
  }
  for (std::size_t i = 0; i < given.field_count; ++i) {
    const auto& field = given.fields[i];
    const auto name = text_of(field.name, "A field's name", kLongestName);
    auto& fields = out.record.fields;
    if (type_of(collections, out.record.collection, name) == FieldSpec::Type::kInteger) {
      fields.emplace_back(name, field.number);
    } else {
      fields.emplace_back(name,
                          bounded(field.text, fmt::format("its field \"{}\"", name), kLongestField, out.too_large));
    }
  }
}

}  // namespace

GivenRecord record_of(const krux_record& given, const std::vector<CollectionSpec>& collections) {
  GivenRecord out;
  auto& record = out.record;
  record.collection = text_of(given.collection, "The record's collection", kLongestName);
  record.id = id_of(given.id, "The record's id");
  record.scope = id_of(given.scope, "The record's scope");
  record.order_ms = given.order_ms;
  record.generation = given.generation;
  record.json = bounded(given.json, "its JSON", kLargestRecord, out.too_large);
  record.text = bounded(given.text, "its text", kLongestRecordText, out.too_large);
  record.order_key = bounded(given.order_key, "its order key", kLongestId, out.too_large);
  take_fields(given, collections, out);
  return out;
}

krux_status say_taken(const std::string& why, std::int32_t* taken, const krux_sink* sink) {
  *taken = why.empty() ? 1 : 0;
  if (why.empty() || !sink || !sink->write) return KRUX_OK;
  return sink->write(sink->self, to_abi(why)) == 0 ? KRUX_OK : KRUX_CANCELLED;
}

}  // namespace krux
