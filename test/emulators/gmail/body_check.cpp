#include "emulators/gmail/body_check.hpp"

#include <fmt/format.h>

#include "emulators/gmail/methods.hpp"

namespace krux::test::gmail {
namespace {

enum class Type { text, texts, number, message, any };

struct Field {
  const char* name;
  Type type;
};

const std::vector<Field>& fields_of(Body body) {
  static const std::vector<Field> none;
  static const std::vector<Field> message = {{"id", Type::text},        {"threadId", Type::text},
                                             {"labelIds", Type::texts}, {"snippet", Type::text},
                                             {"historyId", Type::any},  {"internalDate", Type::any},
                                             {"payload", Type::any},    {"sizeEstimate", Type::number},
                                             {"raw", Type::text},       {"classificationLabelValues", Type::any}};
  static const std::vector<Field> draft = {{"id", Type::text}, {"message", Type::message}};
  static const std::vector<Field> modify = {{"addLabelIds", Type::texts}, {"removeLabelIds", Type::texts}};
  static const std::vector<Field> batch_modify = {
      {"ids", Type::texts}, {"addLabelIds", Type::texts}, {"removeLabelIds", Type::texts}};
  static const std::vector<Field> batch_delete = {{"ids", Type::texts}};
  static const std::vector<Field> label = {{"id", Type::text},
                                           {"name", Type::text},
                                           {"messageListVisibility", Type::text},
                                           {"labelListVisibility", Type::text},
                                           {"type", Type::text},
                                           {"messagesTotal", Type::number},
                                           {"messagesUnread", Type::number},
                                           {"threadsTotal", Type::number},
                                           {"threadsUnread", Type::number},
                                           {"color", Type::any}};
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

bool has_type(const rapidjson::Value& value, Type type) {
  if (value.IsNull()) return true;
  switch (type) {
    case Type::text:
      return value.IsString();
    case Type::texts:
      return is_texts(value);
    case Type::number:
      return value.IsInt();
    case Type::message:
      return value.IsObject();
    case Type::any:
      return true;
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
    if (!has_type(entry.value, field->type)) {
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
