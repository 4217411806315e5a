#include "core/replica/collection.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <set>

#include "core/replica/replica_limits.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kMostCollections = 32, kMostFields = replica_limits::kMostFields, kLongestName = 32,
                      kMostTexts = replica_limits::kMostNamedTexts, kLongestCursors = 64;

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > kLongestName || text[0] < 'a' || text[0] > 'z') return false;
  for (const char c : text) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
  }
  return true;
}

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw ConfigError(fmt::format("The adapter's description: {}: {}.", where, what));
}

/// Every member of `object` must be one of `known`: a misspelt one would be ignored in silence.
void check_members(const JsonValue& object, const std::string& where, std::initializer_list<std::string_view> known) {
  for (const auto& member : object.GetObject()) {
    bool found = false;
    for (const auto name : known) found = found || view(member.name) == name;
    if (!found) refuse(where, fmt::format("\"{}\" is not known here", printable(view(member.name))));
  }
}

std::string take_name(const JsonValue& object, const std::string& where) {
  const auto name = find_string(object, "name");
  if (!name) refuse(where, "\"name\" is missing or not a string");
  if (!is_name(*name)) {
    refuse(where, fmt::format("the name \"{}\" does not fit [a-z][a-z0-9_]{{0,31}}", printable(*name)));
  }
  return std::string(*name);
}

FieldSpec parse_field(const JsonValue& value, const std::string& where) {
  if (!value.IsObject()) refuse(where, "a field is an object with \"name\" and \"type\"");
  check_members(value, where, {"name", "type"});
  FieldSpec field;
  field.name = take_name(value, where);
  if (!find_member(value, "type")) return field;
  const auto type = find_string(value, "type");
  if (type == "integer") {
    field.type = FieldSpec::Type::kInteger;
  } else if (type != "text") {
    refuse(where, fmt::format("the type of field \"{}\" is \"text\" or \"integer\"", field.name));
  }
  return field;
}

std::vector<FieldSpec> parse_fields(const JsonValue& value, const std::string& where) {
  if (!value.IsArray()) refuse(where, "\"fields\" is an array");
  if (value.Size() > kMostFields)
    refuse(where, fmt::format("{} fields, at most {} are possible", value.Size(), kMostFields));
  std::vector<FieldSpec> fields;
  std::set<std::string> seen;
  for (const auto& one : value.GetArray()) {
    fields.push_back(parse_field(one, where));
    if (!seen.insert(fields.back().name).second) {
      refuse(where, fmt::format("the field \"{}\" stands there twice", fields.back().name));
    }
  }
  return fields;
}

bool parse_flag(const JsonValue& object, std::string_view name, const std::string& where) {
  if (!find_member(object, name)) return false;
  const auto flag = find_bool(object, name);
  if (!flag) refuse(where, fmt::format("\"{}\" is true or false", name));
  return *flag;
}

std::vector<NamedTextSpec> parse_texts(const JsonValue& value, const std::string& where) {
  if (!value.IsArray()) refuse(where, "\"texts\" is an array");
  if (value.Size() > kMostTexts)
    refuse(where, fmt::format("{} named texts, at most {} are possible", value.Size(), kMostTexts));
  std::vector<NamedTextSpec> texts;
  for (const auto& one : value.GetArray()) {
    if (!one.IsObject()) refuse(where, "a named text is an object with \"name\", and \"exact\" where it is");
    check_members(one, where, {"name", "exact"});
    NamedTextSpec text{take_name(one, where), parse_flag(one, "exact", where)};
    for (const auto& other : texts) {
      if (other.name == text.name) refuse(where, fmt::format("the named text \"{}\" stands there twice", text.name));
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

void parse_tags_and_texts(const JsonValue& value, CollectionSpec& spec, const std::string& where) {
  spec.tags = parse_flag(value, "tags", where);
  if (const auto* texts = find_member(value, "texts")) spec.texts = parse_texts(*texts, where);
  if (spec.has_tags_or_texts() && !spec.searchable)
    refuse(where, "\"tags\" and \"texts\" are for searchable collections: it says no \"searchable\": true");
}

CollectionSpec parse_collection(const JsonValue& value) {
  if (!value.IsObject()) refuse("\"collections\"", "each of them is an object");
  CollectionSpec spec;
  spec.name = take_name(value, "a collection");
  const auto where = fmt::format("collection \"{}\"", spec.name);
  check_members(value, where, {"name", "version", "order", "searchable", "fields", "cursors", "tags", "texts"});
  if (find_member(value, "version")) {
    const auto version = find_int(value, "version");
    if (!version || *version < 1) refuse(where, "\"version\" is an integer from 1 on");
    spec.version = *version;
  }
  if (find_member(value, "order")) {
    const auto order = find_string(value, "order");
    if (order != "time" && order != "key") refuse(where, "\"order\" is \"time\" or \"key\"");
    spec.order = order == "time" ? CollectionSpec::Order::kTime : CollectionSpec::Order::kKey;
  }
  spec.searchable = parse_flag(value, "searchable", where);
  if (const auto* fields = find_member(value, "fields")) spec.fields = parse_fields(*fields, where);
  parse_tags_and_texts(value, spec, where);
  if (find_member(value, "cursors")) {
    const auto cursors = find_string(value, "cursors");
    if (!cursors || cursors->empty() || cursors->size() > kLongestCursors)
      refuse(where, fmt::format("\"cursors\" is what its cursors' names begin with, 1 to {} bytes", kLongestCursors));
    spec.cursors = *cursors;
  }
  return spec;
}

}  // namespace

int CollectionSpec::named_text(std::string_view text_name) const {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].name == text_name) return static_cast<int>(i);
  }
  return -1;
}

std::size_t bytes_of_texts(const Record& record) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : record.texts) bytes += value.size();
  return bytes;
}

std::size_t memory_of(const Record& r) {
  constexpr std::size_t kEach = 64;
  std::size_t size = r.collection.size() + r.id.size() + r.json.size() + r.text.size() + r.order_key.size() +
                     r.scope.size() + bytes_of_texts(r) + kEach * (r.fields.size() + r.tags.size() + r.texts.size());
  for (const auto& [name, value] : r.fields) {
    size += name.size() + (std::holds_alternative<std::string>(value) ? std::get<std::string>(value).size() : 0);
  }
  for (const auto& tag : r.tags) size += tag.size();
  return size;
}

std::vector<CollectionSpec> parse_collections(std::string_view describe_json) {
  JsonDocument document;
  try {
    document = parse_json(describe_json, "The adapter's description");
  } catch (const Error& e) {
    throw ConfigError(e.what());
  }
  if (!document.IsObject()) throw ConfigError("The adapter's description is not a JSON object.");
  const auto* list = find_member(document, "collections");
  if (!list || !list->IsArray()) refuse("\"collections\"", "it is missing or not an array");
  if (list->Size() > kMostCollections) {
    refuse("\"collections\"", fmt::format("{} of them, at most {} are possible", list->Size(), kMostCollections));
  }
  std::vector<CollectionSpec> collections;
  std::set<std::string> seen;
  for (const auto& one : list->GetArray()) {
    collections.push_back(parse_collection(one));
    if (!seen.insert(collections.back().name).second) {
      refuse("\"collections\"", fmt::format("\"{}\" stands there twice", collections.back().name));
    }
  }
  return collections;
}

}  // namespace krux
