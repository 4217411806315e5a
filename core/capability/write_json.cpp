#include "core/capability/write_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/definition/forms.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kMaxValue = 120, kMaxSummary = 300;  // bytes
/// The host's members of a completed write's answer, beside those of its result.
constexpr std::array<std::string_view, 7> kOfCompleted{"status",       "write_id", "recipients", "undo_until",
                                                       "duplicate_of", "undoes",   "note"};

/// A JSON object whose members are written in order.
class Object {
 public:
  Object() { json_.StartObject(); }
  Object& text(const char* key, const std::string& value) {
    json_.Key(key);
    json_.String(value);
    return *this;
  }
  /// Nothing where there is no such time (yet).
  Object& time(const char* key, std::int64_t ms) { return ms > 0 ? text(key, format_time(ms)) : *this; }
  Object& number(const char* key, std::int64_t value) {
    json_.Key(key);
    json_.Int64(value);
    return *this;
  }
  Object& boolean(const char* key, bool value) {
    json_.Key(key);
    json_.Bool(value);
    return *this;
  }
  /// Nothing where `json` is empty.
  Object& raw(const char* key, const std::string& json) {
    if (json.empty()) return *this;
    json_.Key(key);
    json_.RawValue(json.data(), json.size(), rapidjson::kObjectType);
    return *this;
  }
  std::string done() {
    json_.EndObject();
    return {buffer_.GetString(), buffer_.GetSize()};
  }

 private:
  rapidjson::StringBuffer buffer_;
  JsonWriter json_{buffer_};
};

std::string value_text(const JsonValue& params, std::string_view name) {
  const auto* value = find_member(params, name);
  if (!value) return {};
  return cut_short(value->IsString() ? view(*value) : std::string_view(to_json(*value)), kMaxValue);
}

/// What was made of an attempt's leavings; nothing where there is nothing to tell.
Object& add_cleanup(Object& object, const WriteRecord& write) {
  const bool told = write.cleanup != Cleanup::kNone && write.cleanup != Cleanup::kPossible;
  return told ? object.text("cleanup", to_string(write.cleanup)) : object;
}

Object& add_window(Object& object, const WriteRecord& write, WriteNames names) {
  object.text("write_id", write.write_id);
  if (names == WriteNames::kAll) object.text("buffer_id", write.write_id);
  add_cleanup(object.text("status", to_string(write.state)), write);
  if (names == WriteNames::kAll)
    object.time("buffer_until", write.buffer_until_ms).time("scheduled_send", write.buffer_until_ms);
  // A model is told the time once: as the end of the window, as soon as there is one.
  if (names == WriteNames::kAll || write.buffer_until_ms == 0) object.time("send_at", write.send_at_ms);
  return object.time("cancel_deadline", write.buffer_until_ms);
}

/// What becomes of the write that an undo is about, and how to see it.
std::string undo_in_words(const WriteRecord& undo) {
  if (undo.state == WriteState::kCompleted) return fmt::format("{} is undone: it is rolled_back now.", undo.rolls_back);
  return fmt::format(
      "{0} is being undone. Ask for the status of {1}, with wait_seconds, until it has ended: completed says that {0} "
      "is "
      "rolled_back.",
      undo.rolls_back, undo.write_id);
}

/// Of a wish that was asked for before, and of an undo. A model is told what that means.
Object& add_meaning(Object& object, const WriteRecord& write, bool duplicate, WriteNames names) {
  if (duplicate) object.text("duplicate_of", write.write_id);
  if (!write.rolls_back.empty()) object.text("undoes", write.rolls_back);
  if (names == WriteNames::kAll) return object;
  std::string note = duplicate ? "The same was asked for before: this is that write, and nothing more was begun." : "";
  if (!write.rolls_back.empty()) note += (note.empty() ? "" : " ") + undo_in_words(write);
  return note.empty() ? object : object.text("note", note);
}

std::string error_object(const WriteRecord& write) {
  if (!write.error_type && write.error_message.empty()) return {};
  return Object()
      .text("type", std::string(write.error_type.name()))
      .text("message", printable(write.error_message))
      .done();
}

}  // namespace

std::string buffered_json(const WriteRecord& write, bool duplicate, const std::string& recipients_json,
                          WriteNames names) {
  Object object;
  add_window(object, write, names);
  // A model is told when it asks for the write: 64 digits that it copies nowhere yet.
  if (names == WriteNames::kAll) object.text("content_hash", write.content_hash);
  object.raw("recipients", recipients_json);
  return add_meaning(object, write, duplicate, names).raw("result", write.result_json).done();
}

std::string completed_json(const WriteRecord& write, bool duplicate, const std::string& recipients_json,
                           WriteNames names) {
  Object object;
  object.text("status", names == WriteNames::kAll ? "ok" : to_string(write.state)).text("write_id", write.write_id);
  object.raw("recipients", recipients_json).time("undo_until", undo_until_ms(write));
  add_meaning(object, write, duplicate, names);
  if (write.result_json.empty()) return object.done();
  const auto result = parse_json(write.result_json, "the stored result", {64 << 20, 64});
  for (const auto& member : result.GetObject()) {
    const auto name = view(member.name);
    if (std::find(kOfCompleted.begin(), kOfCompleted.end(), name) == kOfCompleted.end())
      object.raw(member.name.GetString(), to_json(member.value));
  }
  return object.done();
}

std::string status_json(const WriteRecord& write, bool whole, const std::string& recipients_json, WriteNames names) {
  Object object;
  add_window(object, write, names);
  if (whole || names == WriteNames::kAll) object.text("content_hash", write.content_hash);
  // A model reads them among the arguments, where it has these.
  if (!whole || names == WriteNames::kAll) object.raw("recipients", recipients_json);
  if (!write.rolls_back.empty()) object.text("undoes", write.rolls_back);
  object.text("capability", write.operation)
      .text("service", write.account.service)
      .text("account", write.account.account_id)
      .text("summary", write.summary)
      .boolean("immediate", write.immediate)
      .time("created_at", write.created_at_ms)
      .time("first_attempt_at", write.first_attempt_at_ms)
      .time("ended_at", write.ended_at_ms)
      .time("undo_until", undo_until_ms(write))
      .number("attempts", write.attempts)
      .time("next_attempt_at", write.state == WriteState::kDeadLetter ? write.due_at_ms : 0)
      .boolean("needs_operator", write.needs_operator());
  if ((whole || names == WriteNames::kAll) && !write.session_id.empty()) object.text("session_id", write.session_id);
  if (write.state == WriteState::kPendingApproval && write.approvals_needed > 1)
    object.number("approvals_needed", write.approvals_needed);
  // The name before, until the next major version.
  if (names == WriteNames::kAll) object.boolean("waits_for_operator", write.needs_operator());
  if (names == WriteNames::kAll || write.held_as_copy) object.boolean("held_as_copy", write.held_as_copy);
  if (write.waits_in_line) object.boolean("waits_in_line", true);
  if (write.out_of_order) object.boolean("out_of_order", true);
  object.raw("error", error_object(write));
  if (whole) {
    object.raw("arguments", write.params_shown_json.empty() ? write.params_json : write.params_shown_json)
        .raw("result", write.result_json);
  }
  return object.done();
}

std::string recipients_of(const ServiceDefinition* definition, const WriteRecord& write) {
  const auto* capability = definition ? definition->find(write.operation) : nullptr;
  if (!capability || capability->recipients.empty()) return {};
  const auto& shown_json = write.params_shown_json.empty() ? write.params_json : write.params_shown_json;
  const auto shown = parse_json(shown_json, "the stored arguments", {64 << 20, 64});
  const auto resolved = parse_json(write.params_json, "the stored parameters", {64 << 20, 64});
  Object object;
  bool any = false;
  for (const auto& name : capability->recipients) {
    const auto* given = find_member(shown, name);
    const auto* value = given ? given : find_member(resolved, name);
    if (!value || value->IsNull()) continue;
    any = true;
    object.raw(name.c_str(), to_json(*value));
  }
  return any ? object.done() : std::string();
}

namespace {}  // namespace

std::string summary_of(const CapabilityDefinition& capability, const JsonValue& params, const SummaryNames& names) {
  std::string line;
  if (capability.summary.empty()) {
    for (const auto& member : params.GetObject())
      line +=
          (line.empty() ? "" : ", ") + std::string(view(member.name)) + ": " + value_text(params, view(member.name));
  }
  line += filled(capability.summary, [&](std::string_view name) {
    const auto at = names.find(name);
    return at != names.end() ? at->second : value_text(params, name);
  });
  return cut_short(printable(line), kMaxSummary);
}

}  // namespace krux
