#include <fmt/format.h>

#include "core/replica/record_key.hpp"
#include "core/replica/record_writer.hpp"
#include "core/replica/replica_limits.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

using namespace replica_limits;
constexpr int kDeepestRecord = 64;

/// Empty: it is one.
std::string why_no_id(const char* what, const std::string& id) {
  if (id.size() > kLongestId) return fmt::format("{} is longer than {} bytes", what, kLongestId);
  if (id.find('\0') != std::string::npos) return fmt::format("{} contains a NUL", what);
  return is_valid_utf8(id) ? std::string() : fmt::format("{} is not valid UTF-8", what);
}

/// What the adapter declared otherwise than it puts: no service can bring that about.
class Declared {
 public:
  Declared(const Record& record, const CollectionTable& table) : record_(record), table_(table) {}

  void check() const {
    if (!record_.text.empty() && !table_.spec.searchable) {
      refuse("it has a text, but the collection was not declared as searchable");
    }
    check_tags_and_texts();
    std::uint32_t given = 0;
    for (const auto& [name, value] : record_.fields) {
      const int index = table_.field(name);
      if (index < 0) refuse(fmt::format("the collection has no field \"{}\"", printable(name)));
      if ((given & (1u << index)) != 0) refuse(fmt::format("its field \"{}\" is given twice", name));
      given |= 1u << index;
      const bool wants_text = table_.spec.fields[static_cast<std::size_t>(index)].type == FieldSpec::Type::kText;
      if (wants_text != std::holds_alternative<std::string>(value)) {
        refuse(fmt::format("its field \"{}\" is of type {}", name, wants_text ? "text" : "integer"));
      }
    }
  }

 private:
  void check_tags_and_texts() const {
    if (!record_.tags.empty() && !table_.spec.tags)
      refuse("it has tags, but the collection was not declared with \"tags\": true");
    for (const auto& [name, value] : record_.texts) {
      if (table_.spec.named_text(name) < 0) refuse(fmt::format("the collection has no text \"{}\"", printable(name)));
    }
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw invalid_input(fmt::format("The record \"{}\" does not fit the collection \"{}\": {}.",
                                    printable(record_.id.substr(0, 100)), table_.spec.name, why));
  }

  const Record& record_;
  const CollectionTable& table_;
};

std::string make_tags_and_texts_fit(Record& record, std::uint64_t& replaced) {
  if (record.tags.size() > kMostTags) return fmt::format("it has more than {} tags", kMostTags);
  for (auto& tag : record.tags) {
    replaced += replace_odd_text(tag);
    if (tag.empty()) return "one of its tags is empty";
    if (tag.size() > kLongestTag) return fmt::format("one of its tags is longer than {} bytes", kLongestTag);
  }
  if (record.texts.size() > kMostTextValues)
    return fmt::format("its named texts have more than {} values", kMostTextValues);
  for (auto& [name, value] : record.texts) replaced += replace_odd_text(value);
  return {};
}

/// Nearly every record is good as it came and is read once.
std::string make_json_fit(std::string& json, std::uint64_t& replaced) {
  const JsonLimits limits{kLargestJson, kDeepestRecord};
  std::string why;
  if (is_json_object(json, limits, &why)) return {};
  const auto odd = replace_odd_text(json) + replace_odd_escapes(json);
  if (odd == 0) return "its json: " + why;
  replaced += odd;
  return is_json_object(json, limits, &why) ? std::string() : "its json: " + why;
}

}  // namespace

std::string fit_record(Record& record, const CollectionTable& table, std::uint64_t& replaced) {
  Declared(record, table).check();
  if (record.id.empty()) return "its id is empty";
  if (auto why = why_no_id("its id", record.id); !why.empty()) return why;
  if (auto why = why_no_id("its scope", record.scope); !why.empty()) return why;
  if (table.by_time() && !is_time(record.order_ms))
    return fmt::format("its order_ms {} is not a time in Unix milliseconds", record.order_ms);
  replaced += replace_odd_text(record.order_key) + replace_odd_text(record.text);
  if (record.order_key.size() > kLongestId) return fmt::format("its order_key is longer than {} bytes", kLongestId);
  if (auto why = make_tags_and_texts_fit(record, replaced); !why.empty()) return why;
  if (record.text.size() > kLongestText) return "its text is longer than 1 MiB";
  if (record.text.size() + bytes_of_texts(record) > kLongestText)
    return "its text and its named texts together are longer than 1 MiB";
  for (auto& [name, value] : record.fields) {
    auto* const text = std::get_if<std::string>(&value);
    if (text) replaced += replace_odd_text(*text);
    if (text && text->size() > kLongestField)
      return fmt::format("its field \"{}\" is longer than {} bytes", name, kLongestField);
  }
  return make_json_fit(record.json, replaced);
}

std::string fit_kept_text(std::string& text, const CollectionTable& table, std::uint64_t& replaced) {
  if (!table.spec.searchable) {
    throw invalid_input(fmt::format(
        "A kept text of the collection \"{}\": the collection was not declared as searchable.", table.spec.name));
  }
  replaced += replace_odd_text(text);
  return text.size() > kLongestText ? "the text kept with it is longer than 1 MiB" : "";
}

}  // namespace krux
