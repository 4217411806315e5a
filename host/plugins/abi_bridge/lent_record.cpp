#include "host/plugins/abi_bridge/lent_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

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

/// Whatever is too large, what was not declared is refused. Of a collection that is not declared, others say so.
void check_declared(const krux_record& given, const std::vector<CollectionSpec>& collections, const Record& record) {
  const auto spec =
      std::find_if(collections.begin(), collections.end(), [&](const auto& c) { return c.name == record.collection; });
  if (spec == collections.end()) return;
  if (given.tag_count > 0 && !spec->tags)
    throw invalid_input(fmt::format("The adapter has declared no tags of the collection {}.", spec->name));
  for (std::size_t i = 0; i < std::min(given.text_count, kMostTextValues); ++i) {
    const auto name = text_of(given.texts[i].name, "A named text's name", kLongestName);
    if (spec->named_text(name) < 0)
      throw invalid_input(fmt::format("The adapter has declared no text {} of the collection {}.", name, spec->name));
  }
}

void take_tags(const krux_record& given, GivenRecord& out) {
  if (given.tag_count > kMostTags) {
    if (out.too_large.empty())
      out.too_large = fmt::format("it has {} tags, at most {} are possible", given.tag_count, kMostTags);
    return;
  }
  for (std::size_t i = 0; i < given.tag_count; ++i)
    out.record.tags.push_back(bounded(given.tags[i], "one of its tags", kLongestTag, out.too_large));
}

void take_texts(const krux_record& given, GivenRecord& out) {
  if (given.text_count > kMostTextValues) {
    if (out.too_large.empty())
      out.too_large =
          fmt::format("its named texts have {} values, at most {} are possible", given.text_count, kMostTextValues);
    return;
  }
  auto left = kLongestRecordText - out.record.text.size();
  for (std::size_t i = 0; i < given.text_count; ++i) {
    const auto& [name, text] = given.texts[i];
    if (text.len > left) {
      if (out.too_large.empty()) out.too_large = "its text and its named texts together are longer than 1 MiB";
      return;
    }
    left -= text.len;
    out.record.texts.emplace_back(bytes_of(name, "A named text's name", kLongestName),
                                  bytes_of(text, "A named text", kLongestRecordText));
  }
}

void take_tags_and_texts(const krux_record& given, const std::vector<CollectionSpec>& collections, GivenRecord& out) {
  krux_record known{};  // of an earlier version's there is nothing behind its end
  if (KRUX_HAS(krux_record, &given, tag_count)) {
    known.tags = given.tags;
    known.tag_count = given.tag_count;
  }
  if (KRUX_HAS(krux_record, &given, text_count)) {
    known.texts = given.texts;
    known.text_count = given.text_count;
  }
  if (known.tag_count > 0 && !known.tags) throw invalid_input("A record's tags are missing.");
  if (known.text_count > 0 && !known.texts) throw invalid_input("A record's named texts are missing.");
  check_declared(known, collections, out.record);
  take_tags(known, out);
  take_texts(known, out);
}

constexpr std::size_t kReleasedRecord = offsetof(krux_record, tags);

}  // namespace

GivenRecord record_of(const krux_record* from, const std::vector<CollectionSpec>& collections) {
  const auto& given = required(from, "The record", kReleasedRecord);
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
  take_tags_and_texts(given, collections, out);
  return out;
}

krux_status say_taken(const std::string& why, std::int32_t* taken, const krux_sink* sink) {
  *taken = why.empty() ? 1 : 0;
  if (why.empty() || !sink || !sink->write) return KRUX_OK;
  return sink->write(sink->self, to_abi(why)) == 0 ? KRUX_OK : KRUX_CANCELLED;
}

}  // namespace krux
