#include "emulators/gmail/methods.hpp"
#include "emulators/gmail/render.hpp"

namespace krux::test::gmail {
namespace {

void render_with_counts(const MethodContext& context, const Label& label, JsonOut& out) {
  render_label(label, out);
  const LabelCounts counts = context.mailbox.count(label.id);
  out.field("messagesTotal", counts.messages).field("messagesUnread", counts.unread);
  out.field("threadsTotal", counts.threads).field("threadsUnread", counts.threads_unread);
}

MaybeFailure label_exists() {
  Failure failure;
  failure.code = 409;
  failure.status = "ABORTED";
  failure.reason = "aborted";
  failure.message = "Label name exists or conflicts";
  return failure;
}

// Takes over what the body says. A name that is taken, reserved or empty is refused.
MaybeFailure read_label(const MethodContext& context, Label& label) {
  if (!context.call.body) return invalid_argument("Invalid label name");
  const rapidjson::Value& body = *context.call.body;
  label.name = text_or(body, "name", label.name);
  label.message_list_visibility = text_or(body, "messageListVisibility", label.message_list_visibility);
  label.label_list_visibility = text_or(body, "labelListVisibility", label.label_list_visibility);
  const bool blank = label.name.find_first_not_of(" \t\r\n") == std::string::npos;
  if (blank || label.name.size() > 225 || label.name.find_first_of("\r\n") != std::string::npos) {
    return invalid_argument("Invalid label name");
  }
  const Label* taken = context.mailbox.label_by_name(label.name);
  if (!taken || taken->id == label.id) return std::nullopt;
  return taken->is_system ? MaybeFailure(invalid_argument("Invalid label name")) : label_exists();
}

MaybeFailure change_label(MethodContext& context, bool whole) {
  const Label* found = context.mailbox.label(context.call.in_path("id"));
  if (!found) return not_found();
  if (found->is_system) return invalid_argument("Invalid update request");
  Label label = *found;
  if (whole) label.name.clear();
  if (auto failure = read_label(context, label)) return failure;
  context.mailbox.change_label(label);
  render_label(label, context.out);
  return std::nullopt;
}

}  // namespace

MaybeFailure labels_list(MethodContext& context) {
  context.out.array("labels");
  for (const auto& [id, label] : context.mailbox.labels()) {
    context.out.object();
    render_label(label, context.out);
    context.out.end_object();
  }
  context.out.end_array();
  return std::nullopt;
}

MaybeFailure labels_get(MethodContext& context) {
  const Label* label = context.mailbox.label(context.call.in_path("id"));
  if (!label) return not_found();
  render_with_counts(context, *label, context.out);
  return std::nullopt;
}

MaybeFailure labels_create(MethodContext& context) {
  Label label;
  if (auto failure = read_label(context, label)) return failure;
  render_label(context.mailbox.add_label(label), context.out);
  return std::nullopt;
}

MaybeFailure labels_patch(MethodContext& context) {
  return change_label(context, false);
}

MaybeFailure labels_update(MethodContext& context) {
  return change_label(context, true);
}

MaybeFailure labels_delete(MethodContext& context) {
  const Label* label = context.mailbox.label(context.call.in_path("id"));
  if (!label) return not_found();
  if (label->is_system) return invalid_argument("Invalid delete request");
  context.mailbox.erase_label(label->id);
  context.no_content = true;
  return std::nullopt;
}

}  // namespace krux::test::gmail
