#include "emulators/gmail/body_check.hpp"

#include <fmt/format.h>

#include "emulators/gmail/methods.hpp"

namespace krux::test::gmail {
namespace {

enum class Type { text, texts, number, long_number, object, objects, message, one_of };

struct Field {
  const char* name;
  Type type;
  std::vector<std::string> values = {};  // of one_of
};

const std::vector<Field>& fields_of(Body body) {
  static const std::vector<Field> none;
  static const std::vector<Field> message = {{"id", Type::text},
                                             {"threadId", Type::text},
                                             {"labelIds", Type::texts},
                                             {"snippet", Type::text},
                                             {"historyId", Type::long_number},
                                             {"internalDate", Type::long_number},
                                             {"payload", Type::object},
                                             {"sizeEstimate", Type::number},
                                             {"raw", Type::text},
                                             {"classificationLabelValues", Type::objects}};
  static const std::vector<Field> draft = {{"id", Type::text}, {"message", Type::message}};
  static const std::vector<Field> modify = {{"addLabelIds", Type::texts}, {"removeLabelIds", Type::texts}};
  static const std::vector<Field> batch_modify = {
      {"ids", Type::texts}, {"addLabelIds", Type::texts}, {"removeLabelIds", Type::texts}};
  static const std::vector<Field> batch_delete = {{"ids", Type::texts}};
  static const std::vector<Field> label = {
      {"id", Type::text},
      {"name", Type::text},
      {"messageListVisibility", Type::one_of, {"show", "hide"}},
      {"labelListVisibility", Type::one_of, {"labelShow", "labelShowIfUnread", "labelHide"}},
      {"type", Type::one_of, {"system", "user"}},
      {"messagesTotal", Type::number},
      {"messagesUnread", Type::number},
      {"threadsTotal", Type::number},
      {"threadsUnread", Type::number},
      {"color", Type::object}};
  switch (body) {
    case Body::message:
      return message;
    case Body::draft:
      return draft;
    case Body::modify:
      return modify;
    case Body::batch_modify:
      return batch_modify;
    case Body::batch_delete:
      return batch_delete;
    case Body::label:
      return label;
    case Body::none:
      break;
  }
  return none;
}

bool is_texts(const rapidjson::Value& value) {
  return value.IsArray() && std::all_of(value.Begin(), value.End(), [](const auto& item) { return item.IsString(); });
}

// 64 bits come as text or as a number.
bool is_long_number(const rapidjson::Value& value) {
  if (!value.IsString()) return value.IsInt64() || value.IsUint64();
  const std::string_view text(value.GetString(), value.GetStringLength());
  return !text.empty() && text.find_first_not_of("0123456789", text[0] == '-' ? 1 : 0) == std::string_view::npos;
}

bool fits(const rapidjson::Value& value, const Field& field) {
  if (value.IsNull()) return true;
  switch (field.type) {
    case Type::text:
      return value.IsString();
    case Type::texts:
      return is_texts(value);
    case Type::number:
      return value.IsInt();
    case Type::long_number:
      return is_long_number(value);
    case Type::object:
    case Type::message:
      return value.IsObject();
    case Type::objects:
      return value.IsArray() &&
             std::all_of(value.Begin(), value.End(), [](const auto& item) { return item.IsObject(); });
    case Type::one_of:
      return value.IsString() && contains(field.values, value.GetString());
  }
  return false;
}

MaybeFailure check_object(const rapidjson::Value& object, Body shape, const std::string& place) {
  for (const auto& entry : object.GetObject()) {
    const std::string name(entry.name.GetString(), entry.name.GetStringLength());
    const std::vector<Field>& fields = fields_of(shape);
    const auto field =
        std::find_if(fields.begin(), fields.end(), [&](const Field& known) { return name == known.name; });
    if (field == fields.end()) return unknown_body_name(name, place);
    const std::string where = place.empty() ? name : fmt::format("{}.{}", place, name);
    if (!fits(entry.value, *field)) {
      return invalid_argument(fmt::format("Invalid value at '{}'", where));
    }
    if (field->type != Type::message || !entry.value.IsObject()) continue;
    if (auto failure = check_object(entry.value, Body::message, where)) return failure;
  }
  return std::nullopt;
}

}  // namespace

MaybeFailure check_body(const Call& call) {
  if (!call.body) return std::nullopt;
  return check_object(*call.body, call.target->body, "");
}

}  // namespace krux::test::gmail
