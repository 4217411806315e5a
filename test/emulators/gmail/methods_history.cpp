#include <limits>

#include "emulators/gmail/codec.hpp"
#include "emulators/gmail/listing.hpp"
#include "emulators/gmail/render.hpp"

namespace krux::test::gmail {
namespace {

std::optional<std::uint64_t> parse_history_id(const std::string& text) {
  if (text.empty() || text.size() > 20 || text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    const std::uint64_t digit = static_cast<std::uint64_t>(c - '0');
    if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

struct Kind {
  ChangeKind kind;
  const char* type;   // in historyTypes
  const char* field;  // in the record
};
const Kind kKinds[] = {{ChangeKind::message_added, "messageAdded", "messagesAdded"},
                       {ChangeKind::message_deleted, "messageDeleted", "messagesDeleted"},
                       {ChangeKind::labels_added, "labelAdded", "labelsAdded"},
                       {ChangeKind::labels_removed, "labelRemoved", "labelsRemoved"}};

const Kind& kind_of(const Change& change) {
  return *std::find_if(std::begin(kKinds), std::end(kKinds),
                       [&](const Kind& kind) { return kind.kind == change.kind; });
}

struct Wanted {
  std::vector<std::string> types;  // none: all
  std::string label;
  std::uint64_t after = 0;
  std::size_t max = 100;

  bool fits(const Change& change) const {
    const bool typed = types.empty() || contains(types, kind_of(change).type);
    return typed && (label.empty() || contains(change.present, label) || contains(change.labels, label));
  }
};

void render_change(const Change& change, JsonOut& out) {
  out.object().object("message");
  out.field("id", format_id(change.message)).field("threadId", format_id(change.thread));
  render_labels(change.present, out);
  out.end_object();
  render_labels(change.labels, out);
  out.end_object();
}

void render_record(const HistoryRecord& record, const std::vector<const Change*>& changes, JsonOut& out) {
  out.object().field("id", std::to_string(record.id)).array("messages");
  std::vector<Id> named;
  for (const Change* change : changes) {
    if (std::find(named.begin(), named.end(), change->message) != named.end()) continue;
    named.push_back(change->message);
    out.object().field("id", format_id(change->message)).field("threadId", format_id(change->thread)).end_object();
  }
  out.end_array();
  for (const Kind& kind : kKinds) {
    bool open = false;
    for (const Change* change : changes) {
      if (change->kind != kind.kind) continue;
      if (!open) out.array(kind.field);
      open = true;
      render_change(*change, out);
    }
    if (open) out.end_array();
  }
  out.end_object();
}

MaybeFailure read_wanted(const MethodContext& context, Wanted& into) {
  const Call& call = context.call;
  const std::string start = call.in_query("startHistoryId");
  if (start.empty()) return invalid_argument("Missing/invalid parameter: startHistoryId");
  const auto id = parse_history_id(start);
  if (!id) return invalid_value("start_history_id", "TYPE_UINT64", start);
  into.types = call.all_in_query("historyTypes");
  for (const std::string& type : into.types) {
    const bool known = std::any_of(std::begin(kKinds), std::end(kKinds), [&](const Kind& k) { return type == k.type; });
    if (!known) return invalid_value("history_types", "type.googleapis.com/gmail.api.HistoryType", type);
  }
  if (auto failure = read_max_results(call, into.max)) return failure;
  if (*id < context.mailbox.oldest_history_id() || *id > context.mailbox.history_id()) return not_found();
  into.after = *id;
  into.label = call.in_query("labelId");
  if (!into.label.empty() && !context.mailbox.label(into.label))
    return invalid_argument("Invalid label: " + into.label);
  const std::string token = call.in_query("pageToken");
  if (token.empty()) return std::nullopt;
  const auto page = parse_history_id(token);
  if (!page || *page < into.after || *page > context.mailbox.history_id()) return invalid_argument("Invalid pageToken");
  into.after = *page;
  return std::nullopt;
}

}  // namespace

MaybeFailure history_list(MethodContext& context) {
  Wanted wanted;
  if (auto failure = read_wanted(context, wanted)) return failure;
  const auto& history = context.mailbox.history();
  auto at = std::upper_bound(history.begin(), history.end(), wanted.after,
                             [](std::uint64_t id, const HistoryRecord& record) { return id < record.id; });
  if (context.state.behaviour.history_empty_page && context.call.in_query("pageToken").empty() && at != history.end()) {
    context.out.field("nextPageToken", std::to_string(wanted.after));
    context.out.field("historyId", std::to_string(context.mailbox.history_id()));
    return std::nullopt;
  }
  std::size_t shown = 0;
  std::uint64_t last = 0;
  bool more = false;
  for (; at != history.end() && !more; ++at) {
    std::vector<const Change*> changes;
    for (const Change& change : at->changes) {
      if (wanted.fits(change)) changes.push_back(&change);
    }
    if (changes.empty()) continue;
    more = shown == wanted.max;
    if (more) break;
    if (shown++ == 0) context.out.array("history");
    render_record(*at, changes, context.out);
    last = at->id;
  }
  if (shown > 0) context.out.end_array();
  if (more) context.out.field("nextPageToken", std::to_string(last));
  context.out.field("historyId", std::to_string(context.mailbox.history_id()));
  return std::nullopt;
}

}  // namespace krux::test::gmail
