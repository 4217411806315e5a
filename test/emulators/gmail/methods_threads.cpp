#include "emulators/gmail/changing.hpp"
#include "emulators/gmail/codec.hpp"
#include "emulators/gmail/listing.hpp"
#include "emulators/gmail/reading.hpp"
#include "emulators/gmail/render.hpp"

namespace krux::test::gmail {
namespace {

// The messages of the thread that the path names. Null with a failure.
const std::vector<Id>* named_thread(const MethodContext& context, MaybeFailure& failure) {
  const auto id = parse_id(context.call.in_path("id"));
  const std::vector<Id>* members = id ? context.mailbox.thread(*id) : nullptr;
  if (!id)
    failure = invalid_argument("Invalid id value");
  else if (!members)
    failure = not_found();
  return members;
}

std::uint64_t last_change(const Mailbox& mailbox, const std::vector<Id>& members) {
  std::uint64_t last = 0;
  for (const Id id : members) last = std::max(last, mailbox.find(id)->history_id);
  return last;
}

MaybeFailure change_all(MethodContext& context, const LabelChange& change, std::int64_t& effect) {
  MaybeFailure failure;
  const std::vector<Id>* members = named_thread(context, failure);
  if (!members) return failure;
  std::vector<Id> changed;
  for (const Id id : *members) {
    if (!context.mailbox.draft_of(id)) changed.push_back(id);
  }
  const LabelChange whole = with_consequences(context.state.behaviour, change);
  context.mailbox.modify(changed, whole.add, whole.remove);
  effect += static_cast<std::int64_t>(changed.size());
  context.out.field("id", lower(context.call.in_path("id"))).array("messages");
  for (const Id id : *members) {
    context.out.object();
    render_reference(*context.mailbox.find(id), context.out, true);
    context.out.end_object();
  }
  context.out.end_array();
  return std::nullopt;
}

// A thread is listed once, where its newest message that fits stands.
bool is_first_of_thread(const Listing& listing, const Mailbox& mailbox, const Message& message) {
  if (!listing.fits(mailbox, message)) return false;
  for (const Id id : *mailbox.thread(message.thread_id)) {
    const Message& other = *mailbox.find(id);
    if (std::pair(other.date_ms, other.id) > std::pair(message.date_ms, message.id) && listing.fits(mailbox, other)) {
      return false;
    }
  }
  return true;
}

}  // namespace

MaybeFailure threads_list(MethodContext& context) {
  Listing listing;
  if (auto failure = read_listing(context, listing)) return failure;
  const Mailbox& mailbox = context.mailbox;
  const Mailbox::ByDate& all = mailbox.newest_first();
  std::vector<const Message*> page;
  bool more = false;
  for (auto at = listing.after ? all.upper_bound(*listing.after) : all.begin(); at != all.end(); ++at) {
    if (!is_first_of_thread(listing, mailbox, *at->second)) continue;
    more = page.size() == listing.max;
    if (more) break;
    page.push_back(at->second);
  }
  if (!page.empty()) {
    context.out.array("threads");
    for (const Message* message : page) {
      const std::string snippet = make_snippet(message->content.digest().text);
      context.out.object().field("id", format_id(message->thread_id)).field("snippet", snippet);
      const std::uint64_t changed = last_change(mailbox, *mailbox.thread(message->thread_id));
      context.out.field("historyId", std::to_string(changed)).end_object();
    }
    context.out.end_array();
  }
  if (more) context.out.field("nextPageToken", make_page_token(*page.back()));
  context.out.field("resultSizeEstimate", estimate(page.size(), more));
  return std::nullopt;
}

MaybeFailure threads_get(MethodContext& context) {
  View view;
  if (auto failure = read_view(context, view)) return failure;
  if (view.format == Format::raw) return invalid_value("format", "type.googleapis.com/gmail.api.ThreadFormat", "raw");
  MaybeFailure failure;
  const std::vector<Id>* members = named_thread(context, failure);
  if (!members) return failure;
  context.out.field("id", context.call.in_path("id"));
  context.out.field("historyId", std::to_string(last_change(context.mailbox, *members))).array("messages");
  for (const Id id : *members) {
    context.out.object();
    render_message(*context.mailbox.find(id), view, context.out);
    context.out.end_object();
  }
  context.out.end_array();
  return std::nullopt;
}

MaybeFailure threads_modify(MethodContext& context) {
  LabelChange change;
  if (auto failure = read_label_change(context, 100, change)) return failure;
  return change_all(context, change, context.mailbox.effects.modifies);
}

MaybeFailure threads_trash(MethodContext& context) {
  return change_all(context, {{"TRASH"}, {}}, context.mailbox.effects.trashes);
}

MaybeFailure threads_untrash(MethodContext& context) {
  return change_all(context, {{}, {"TRASH"}}, context.mailbox.effects.untrashes);
}

MaybeFailure threads_delete(MethodContext& context) {
  MaybeFailure failure;
  const std::vector<Id>* members = named_thread(context, failure);
  if (!members) return failure;
  const std::vector<Id> all = *members;
  context.mailbox.erase(all);
  context.mailbox.effects.deletes += static_cast<std::int64_t>(all.size());
  context.no_content = true;
  return std::nullopt;
}

}  // namespace krux::test::gmail
