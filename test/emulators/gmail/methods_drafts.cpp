#include "emulators/gmail/codec.hpp"
#include "emulators/gmail/listing.hpp"
#include "emulators/gmail/outgoing.hpp"
#include "emulators/gmail/reading.hpp"
#include "emulators/gmail/render.hpp"

namespace krux::test::gmail {
namespace {

const rapidjson::Value* resource_of(const Call& call) {
  return call.body ? &static_cast<const rapidjson::Value&>(*call.body) : nullptr;
}

const rapidjson::Value* message_of(const Call& call) {
  return call.body ? find_member(*call.body, "message") : nullptr;
}

void render_draft(const MethodContext& context, const Draft& draft, JsonOut& out, bool with_labels) {
  out.field("id", draft.id).object("message");
  render_reference(*context.mailbox.find(draft.message), out, with_labels);
  out.end_object();
}

// The message of a draft from the call.
MaybeFailure read_draft(const MethodContext& context, NewMessage& into) {
  MaybeFailure failure;
  const auto mail = read_mail(context, message_of(context.call), failure);
  if (!mail) return failure;
  if (auto wrong = check_recipients(*mail)) return wrong;
  if (auto wrong = read_thread(context, message_of(context.call), *mail, into.thread)) return wrong;
  into.content = Content(*mail);
  into.arrived_ms = context.now_ms;
  return std::nullopt;
}

NewMessage empty_message() {
  return {Content(std::string()), 0, {}, {}, {}};
}

}  // namespace

MaybeFailure messages_send(MethodContext& context) {
  MaybeFailure failure;
  const auto mail = read_mail(context, resource_of(context.call), failure);
  if (!mail) return failure;
  std::optional<Id> thread;
  if (auto wrong = read_thread(context, resource_of(context.call), *mail, thread)) return wrong;
  Outgoing outgoing;
  if (auto wrong = prepare(context, *mail, outgoing)) return wrong;
  const Message& sent = context.mailbox.add(
      {Content(outgoing.raw), context.now_ms, {}, labels_of_sent(context.mailbox, outgoing), thread});
  context.mailbox.count_sent(sent);
  ++context.mailbox.effects.sends;
  render_reference(sent, context.out, true);
  deliver(context.state, context.mailbox, outgoing, context.now_ms);
  return std::nullopt;
}

MaybeFailure drafts_list(MethodContext& context) {
  Listing listing;
  if (auto failure = read_listing(context, listing)) return failure;
  const Mailbox::ByDate& all = context.mailbox.newest_first();
  std::vector<const Message*> page;
  bool more = false;
  for (auto at = listing.after ? all.upper_bound(*listing.after) : all.begin(); at != all.end(); ++at) {
    if (!context.mailbox.draft_of(at->second->id) || !listing.fits(context.mailbox, *at->second)) continue;
    more = page.size() == listing.max;
    if (more) break;
    page.push_back(at->second);
  }
  if (!page.empty()) {
    context.out.array("drafts");
    for (const Message* message : page) {
      context.out.object();
      render_draft(context, *context.mailbox.draft_of(message->id), context.out, false);
      context.out.end_object();
    }
    context.out.end_array();
  }
  if (more) context.out.field("nextPageToken", make_page_token(*page.back()));
  context.out.field("resultSizeEstimate", estimate(page.size(), more));
  return std::nullopt;
}

MaybeFailure drafts_get(MethodContext& context) {
  View view;
  if (auto failure = read_view(context, view)) return failure;
  const Draft* draft = context.mailbox.draft(context.call.in_path("id"));
  if (!draft) return not_found();
  context.out.field("id", draft->id).object("message");
  render_message(*context.mailbox.find(draft->message), view, context.out);
  context.out.end_object();
  return std::nullopt;
}

MaybeFailure drafts_create(MethodContext& context) {
  NewMessage message = empty_message();
  if (auto failure = read_draft(context, message)) return failure;
  const Draft& draft = context.mailbox.add_draft(std::move(message));
  ++context.mailbox.effects.drafts_created;
  render_draft(context, draft, context.out, true);
  return std::nullopt;
}

MaybeFailure drafts_update(MethodContext& context) {
  const Draft* draft = context.mailbox.draft(context.call.in_path("id"));
  if (!draft) return not_found();
  NewMessage message = empty_message();
  if (auto failure = read_draft(context, message)) return failure;
  context.mailbox.replace_draft(draft->id, std::move(message));
  ++context.mailbox.effects.drafts_updated;
  render_draft(context, *draft, context.out, true);
  return std::nullopt;
}

MaybeFailure drafts_send(MethodContext& context) {
  const std::string id = context.call.body ? text_or(*context.call.body, "id") : "";
  if (id.empty()) return invalid_argument("Missing draft id");
  const Draft* draft = context.mailbox.draft(id);
  if (!draft) return not_found();
  const Message& drafted = *context.mailbox.find(draft->message);
  std::string raw = *drafted.content.raw();
  std::optional<Id> thread = drafted.thread_id;
  const rapidjson::Value* given = message_of(context.call);
  if (context.call.media || (given && !text_or(*given, "raw").empty())) {
    NewMessage updated = empty_message();
    if (auto failure = read_draft(context, updated)) return failure;
    raw = *updated.content.raw();
    thread = updated.thread;
  }
  Outgoing outgoing;
  if (auto failure = prepare(context, raw, outgoing)) return failure;
  const Message& sent = context.mailbox.send_draft(
      id, {Content(outgoing.raw), context.now_ms, {}, labels_of_sent(context.mailbox, outgoing), thread});
  context.mailbox.count_sent(sent);
  ++context.mailbox.effects.drafts_sent;
  ++context.mailbox.effects.sends;
  render_reference(sent, context.out, true);
  deliver(context.state, context.mailbox, outgoing, context.now_ms);
  return std::nullopt;
}

MaybeFailure drafts_delete(MethodContext& context) {
  const Draft* draft = context.mailbox.draft(context.call.in_path("id"));
  if (!draft) return not_found();
  context.mailbox.erase_draft(draft->id);
  ++context.mailbox.effects.drafts_deleted;
  context.no_content = true;
  return std::nullopt;
}

}  // namespace krux::test::gmail
