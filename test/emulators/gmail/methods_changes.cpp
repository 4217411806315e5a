#include "emulators/gmail/changing.hpp"
#include "emulators/gmail/codec.hpp"
#include "emulators/gmail/outgoing.hpp"
#include "emulators/gmail/render.hpp"

namespace krux::test::gmail {
namespace {

constexpr std::size_t kMaxBatch = 1000, kMaxLabels = 100;

MaybeFailure change_one(MethodContext& context, const LabelChange& change, std::int64_t& effect) {
  MaybeFailure failure;
  const Message* message = context.message("id", failure);
  if (!message) return failure;
  if (!contains(change.add, "TRASH") && !contains(change.remove, "TRASH")) {
    if (auto refused = refuse_drafts(context.mailbox, {message->id})) return refused;
  }
  const LabelChange whole = with_consequences(context.state.behaviour, change);
  const auto before = message->labels;
  context.mailbox.modify({message->id}, whole.add, whole.remove);
  if (message->labels != before) ++effect;
  render_reference(*message, context.out, true);
  return std::nullopt;
}

// The ids of a batch; of ones that do not exist nothing is said.
MaybeFailure read_ids(const MethodContext& context, std::vector<Id>& into) {
  const rapidjson::Value* ids = context.call.body ? find_member(*context.call.body, "ids") : nullptr;
  if (!ids || !ids->IsArray() || ids->Empty()) return invalid_argument("No message ids specified");
  if (ids->Size() > kMaxBatch) return invalid_argument("Too many message ids: at most 1000");
  for (const auto& item : ids->GetArray()) {
    const auto id = parse_id({item.GetString(), item.GetStringLength()});
    if (!id) return invalid_argument("Invalid ids value");
    if (context.mailbox.find(*id) && std::find(into.begin(), into.end(), *id) == into.end()) into.push_back(*id);
  }
  return std::nullopt;
}

MaybeFailure add_mail(MethodContext& context, const char* default_source) {
  const Call& call = context.call;
  const std::string given = call.in_query("internalDateSource");
  const std::string source = given.empty() ? default_source : given;
  if (source != "dateHeader" && source != "receivedTime") {
    return invalid_value("internal_date_source", "type.googleapis.com/gmail.api.InternalDateSource", source);
  }
  const rapidjson::Value* resource = call.body ? &static_cast<const rapidjson::Value&>(*call.body) : nullptr;
  MaybeFailure failure;
  const auto mail = read_mail(context, resource, failure);
  if (!mail) return failure;
  NewMessage added{Content(*mail), context.now_ms, {}, {}, {}};
  if (auto wrong = read_thread(context, resource, *mail, added.thread)) return wrong;
  const rapidjson::Value* labels = resource ? find_member(*resource, "labelIds") : nullptr;
  if (labels && labels->IsArray()) {
    for (const auto& item : labels->GetArray()) {
      const std::string id(item.GetString(), item.GetStringLength());
      if (id == "DRAFT" || id == "CHAT" || !context.mailbox.label(id)) return invalid_argument("Invalid label: " + id);
      if (!contains(added.labels, id)) added.labels.push_back(id);
    }
  }
  if (source == "dateHeader") {
    for (const Header& header : parse_headers(*mail)) {
      if (same_name(header.name, "Date")) added.date_ms = parse_date(header.value);
    }
  }
  ++context.mailbox.effects.inserts;
  render_reference(context.mailbox.add(std::move(added)), context.out, true);
  return std::nullopt;
}

}  // namespace

MaybeFailure messages_insert(MethodContext& context) {
  return add_mail(context, "receivedTime");
}

MaybeFailure messages_import(MethodContext& context) {
  return add_mail(context, "dateHeader");
}

MaybeFailure messages_modify(MethodContext& context) {
  LabelChange change;
  if (auto failure = read_label_change(context, kMaxLabels, change)) return failure;
  return change_one(context, change, context.mailbox.effects.modifies);
}

MaybeFailure messages_trash(MethodContext& context) {
  return change_one(context, {{"TRASH"}, {}}, context.mailbox.effects.trashes);
}

MaybeFailure messages_untrash(MethodContext& context) {
  return change_one(context, {{}, {"TRASH"}}, context.mailbox.effects.untrashes);
}

MaybeFailure messages_delete(MethodContext& context) {
  MaybeFailure failure;
  const Message* message = context.message("id", failure);
  if (!message) return failure;
  context.mailbox.erase({message->id});
  ++context.mailbox.effects.deletes;
  context.no_content = true;
  return std::nullopt;
}

MaybeFailure messages_batch_modify(MethodContext& context) {
  std::vector<Id> ids;
  if (auto failure = read_ids(context, ids)) return failure;
  LabelChange change;
  if (auto failure = read_label_change(context, kMaxLabels, change)) return failure;
  if (auto failure = refuse_drafts(context.mailbox, ids)) return failure;
  const LabelChange whole = with_consequences(context.state.behaviour, change);
  context.mailbox.modify(ids, whole.add, whole.remove);
  context.mailbox.effects.modifies += static_cast<std::int64_t>(ids.size());
  context.no_content = true;
  return std::nullopt;
}

MaybeFailure messages_batch_delete(MethodContext& context) {
  std::vector<Id> ids;
  if (auto failure = read_ids(context, ids)) return failure;
  context.mailbox.erase(ids);
  context.mailbox.effects.deletes += static_cast<std::int64_t>(ids.size());
  context.no_content = true;
  return std::nullopt;
}

}  // namespace krux::test::gmail
