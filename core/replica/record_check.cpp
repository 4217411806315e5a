#include <fmt/format.h>

#include "core/replica/record_key.hpp"
#include "core/replica/record_writer.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kLongestId = 1024, kLongestText = 1 << 20, kLongestJson = 1 << 20, kLongestField = 65'536;

class Checker {
 public:
  Checker(const Record& record, const CollectionTable& table) : record_(record), table_(table) {}

  void run() const {
    text("its id", record_.id, kLongestId);
    if (record_.id.empty()) refuse("its id is empty");
    text("its scope", record_.scope, kLongestId);
    text("its order_key", record_.order_key, kLongestId);
    if (table_.by_time() && !is_time(record_.order_ms)) {
      refuse(fmt::format("its order_ms {} is not a time in Unix milliseconds", record_.order_ms));
    }
    if (record_.text.size() > kLongestText) refuse("its text is longer than 1 MiB");
    if (!record_.text.empty() && !table_.spec.searchable) {
      refuse("it has a text, but the collection was not declared as searchable");
    }
    std::string why;
    if (!is_json_object(record_.json, {kLongestJson, 64}, &why)) refuse("its json: " + why);
    fields();
  }

 private:
  void fields() const {
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
      if (wants_text) text(fmt::format("its field \"{}\"", name), std::get<std::string>(value), kLongestField);
    }
  }

  void text(const std::string& what, const std::string& value, std::size_t longest) const {
    if (value.size() > longest) refuse(fmt::format("{} is longer than {} bytes", what, longest));
    if (value.find('\0') != std::string::npos) refuse(what + " contains a NUL");
    if (!is_valid_utf8(value)) refuse(what + " is not valid UTF-8");
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw invalid_input(fmt::format("The record \"{}\" does not fit the collection \"{}\": {}.",
                                    printable(record_.id.substr(0, 100)), table_.spec.name, why));
  }

  const Record& record_;
  const CollectionTable& table_;
};

}  // namespace

void check_record(const Record& record, const CollectionTable& table) {
  Checker(record, table).run();
}

void check_kept_text(std::string_view id, std::string_view text, const CollectionTable& table) {
  const auto refuse = [&](std::string_view why) {
    throw invalid_input(fmt::format("A kept text of the collection \"{}\": {}.", table.spec.name, why));
  };
  if (!table.spec.searchable) refuse("the collection was not declared as searchable");
  if (id.empty() || id.size() > kLongestId || !is_valid_utf8(id)) refuse("the id is UTF-8 of 1 to 1024 bytes");
  if (text.size() > kLongestText) refuse("it is longer than 1 MiB");
  if (!is_valid_utf8(text) || text.find('\0') != std::string_view::npos) refuse("it is not UTF-8 without NUL");
}

}  // namespace krux
