#include "emulators/gmail/codec.hpp"
#include "emulators/gmail/listing.hpp"
#include "emulators/gmail/reading.hpp"
#include "emulators/gmail/render.hpp"

namespace krux::test::gmail {

MaybeFailure get_profile(MethodContext& context) {
  const Mailbox& mailbox = context.mailbox;
  context.out.field("emailAddress", mailbox.address()).field("messagesTotal", mailbox.size());
  context.out.field("threadsTotal", mailbox.threads().size());
  context.out.field("historyId", std::to_string(mailbox.history_id()));
  return std::nullopt;
}

MaybeFailure messages_list(MethodContext& context) {
  Listing listing;
  if (auto failure = read_listing(context, listing)) return failure;
  const Mailbox::ByDate& all = context.mailbox.newest_first();
  std::vector<const Message*> page;
  bool more = false;
  for (auto at = listing.after ? all.upper_bound(*listing.after) : all.begin(); at != all.end(); ++at) {
    if (!listing.fits(context.mailbox, *at->second)) continue;
    more = page.size() == listing.max;
    if (more) break;
    page.push_back(at->second);
  }
  if (!page.empty()) {
    context.out.array("messages");
    for (const Message* message : page) {
      context.out.object();
      render_reference(*message, context.out, false);
      context.out.end_object();
    }
    context.out.end_array();
  }
  if (more) context.out.field("nextPageToken", make_page_token(*page.back()));
  context.out.field("resultSizeEstimate", estimate(page.size(), more));
  return std::nullopt;
}

MaybeFailure read_view(MethodContext& context, View& view) {
  const std::string format = lower(context.call.in_query("format"));
  view.handles = &context.state.attachment_handles;
  view.decodes_headers = context.state.behaviour.header_values == "decoded";
  view.inline_text_max = context.state.behaviour.inline_text_max;
  view.metadata_headers = context.call.all_in_query("metadataHeaders");
  if (format == "minimal") {
    view.format = Format::minimal;
  } else if (format == "metadata") {
    view.format = Format::metadata;
  } else if (format.empty() || format == "full") {
    view.format = Format::full;
  } else if (format == "raw") {
    view.format = Format::raw;
  } else {
    return invalid_value("format", "type.googleapis.com/gmail.api.Format", context.call.in_query("format"));
  }
  if (view.format == Format::full) return metadata_only(context, "doesn't allow format FULL");
  if (view.format == Format::raw) return metadata_only(context, "doesn't allow format RAW");
  return std::nullopt;
}

MaybeFailure messages_get(MethodContext& context) {
  View view;
  if (auto failure = read_view(context, view)) return failure;
  MaybeFailure failure;
  const Message* message = context.message("id", failure);
  if (!message) return failure;
  render_message(*message, view, context.out);
  return std::nullopt;
}

MaybeFailure attachments_get(MethodContext& context) {
  MaybeFailure failure;
  const Message* message = context.message("messageId", failure);
  if (!message) return failure;
  const auto id = read_attachment_id(message->id, context.call.in_path("id"));
  const Part mail = parse_mail(*message->content.raw());
  const Part* part = id ? find_part(mail, *id) : nullptr;
  if (!part) return invalid_argument("Invalid attachment token");
  context.out.field("size", part->body.size()).field("data", encode_base64url(part->body));
  return std::nullopt;
}

}  // namespace krux::test::gmail
