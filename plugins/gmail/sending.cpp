#include "sending.hpp"

#include <algorithm>

#include "body.hpp"
#include "composing.hpp"
#include "message_text.hpp"
#include "model.hpp"
#include "write.hpp"

namespace gmail {
namespace {

using kruxos::EffectFound;
using kruxos::ErrorKind;

constexpr std::int64_t kMarginMs = 10 * 60'000;  ///< Gmail's clock and ours may differ
// Beyond so many mails since the attempt a look is given up as "cannot tell".
constexpr int kMostLooked = 300;
constexpr int kPage = 50;

std::string sent_result(const Json& message) {
  return ObjectWriter()
      .text("message_id", text_of(message, "id"))
      .text("thread_id", text_of(message, "threadId"))
      .done();
}

std::string draft_result(const std::string& draft_id, const std::string& message_id, const Json& params) {
  return ObjectWriter()
      .text("draft_id", draft_id)
      .text("to", text_of(params, "to"))
      .text("subject", text_of(params, "subject"))
      .text("message_id", message_id)
      .done();
}

std::string metadata(const std::string& url) {
  return url + "?format=metadata&metadataHeaders=" + kWriteIdHeader + "&metadataHeaders=Message-ID";
}

bool has_label(const Json& message, std::string_view label) {
  const auto labels = texts_of(message, "labelIds");
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// The entries' ids of a list; none where Gmail has left the list out. A look that was not understood proves nothing.
std::vector<std::string> ids_in(const Json& answer, const char* list, const char* what) {
  std::vector<std::string> ids;
  const auto* entries = member(answer, list);
  if (!entries && answer.MemberCount() > 0 && !member(answer, "resultSizeEstimate")) throw malformed(what);
  if (!entries) return ids;
  if (!entries->IsArray()) throw malformed(what);
  for (const auto& one : entries->GetArray()) {
    ids.emplace_back(one.IsObject() ? text_of(one, "id") : std::string_view());
    if (ids.back().empty()) throw malformed(what);
  }
  if (const auto* next = member(answer, "nextPageToken"); next && !next->IsString()) throw malformed(what);
  return ids;
}

/// That this is the message, with labels and headers that can be read.
void require_message(const Json& message, std::string_view id, const char* what) {
  const auto* payload = member(message, "payload");
  const auto* headers = payload && payload->IsObject() ? member(*payload, "headers") : nullptr;
  const bool whole = text_of(message, "id") == id && has_texts(message, "labelIds") && payload && payload->IsObject() &&
                     (!headers || headers->IsArray());
  const auto fits = [](const Json* value) { return !value || value->IsString(); };
  const auto readable = [&](const Json& one) {
    return one.IsObject() && fits(member(one, "name")) && fits(member(one, "value"));
  };
  if (!whole || (headers && !std::all_of(headers->Begin(), headers->End(), readable))) throw malformed(what);
}

kruxos::ProxyError edited_since() {
  return refused(
      "The draft that the mail was to be sent from was changed in the mailbox: it was not sent, and is left there.");
}

kruxos::ProxyError gone() {
  return refused(
      "The draft of this mail is gone from the mailbox, and the mail is not among those that were sent: somebody has "
      "changed, sent or deleted it. The host makes no other one; send the mail anew if it is still wanted.");
}

}  // namespace

kruxos::ProxyError refused(const std::string& sentence) {
  kruxos::ProxyError error(ErrorKind::kRefused, sentence);
  error.type("WriteFailed").no_effect();
  return error;
}

std::optional<Sending::Kept> Sending::noted() const {
  const auto note = parse(write_.note_json.empty() ? "{}" : write_.note_json);
  if (note.HasParseError() || !note.IsObject()) return std::nullopt;
  Kept kept{std::string(text_of(note, "draft_id")), std::string(text_of(note, "message_id"))};
  return kept.draft_id.empty() ? std::nullopt : std::optional(std::move(kept));
}

void Sending::note(const Kept& kept) const {
  call_.remember(ObjectWriter().text("draft_id", kept.draft_id).text("message_id", kept.message_id).done());
}

bool Sending::is_ours(const Json& message) const {
  return header_of(message, kWriteIdHeader) == write_.write_id;
}

/// Nothing where Gmail has no draft of that id.
std::optional<Sending::Kept> Sending::present(const Kept& kept) const {
  try {
    const auto draft =
        api_.get(call_, "drafts.get", "gmail/v1/users/me/drafts/" + encoded(kept.draft_id) + "?format=minimal");
    const auto* message = member(draft, "message");
    const auto id = message && message->IsObject() ? text_of(*message, "id") : std::string_view();
    if (id.empty()) throw malformed("drafts.get");
    return Kept{kept.draft_id, std::string(id)};
  } catch (const GmailError& error) {
    if (error.kind() == ErrorKind::kNotFound) return std::nullopt;
    throw;
  }
}

std::vector<std::string> Sending::drafts_by_message_id() const {
  const auto list =
      api_.get(call_, "drafts.list", "gmail/v1/users/me/drafts?q=" + encoded("rfc822msgid:" + message_id()));
  return ids_in(list, "drafts", "drafts.list");
}

std::optional<Sending::Kept> Sending::whole(const std::string& draft_id, bool& edited) const {
  try {
    const auto draft =
        api_.get(call_, "drafts.get", "gmail/v1/users/me/drafts/" + encoded(draft_id) + "?format=metadata");
    const auto* message = member(draft, "message");
    if (!message || !message->IsObject()) throw malformed("drafts.get");
    require_message(*message, text_of(*message, "id"), "drafts.get");
    if (text_of(*message, "id").empty()) throw malformed("drafts.get");
    edited = !is_ours(*message);
    return Kept{draft_id, std::string(text_of(*message, "id"))};
  } catch (const GmailError& error) {
    if (error.kind() == ErrorKind::kNotFound) return std::nullopt;
    throw;
  }
}

std::optional<Sending::Kept> Sending::left_behind(bool& edited) const {
  for (const auto& id : drafts_by_message_id()) {
    if (auto kept = whole(id, edited)) return kept;
  }
  return std::nullopt;
}

void Sending::delete_draft(const std::string& draft_id) const {
  try {
    api_.send(call_, "drafts.delete", "DELETE", "gmail/v1/users/me/drafts/" + encoded(draft_id), "");
  } catch (const GmailError& error) {
    if (error.kind() != ErrorKind::kNotFound) throw;
  }
}

void Sending::clean_up() const {
  const auto changed = [] {
    return kruxos::ProxyError(ErrorKind::kConflict,
                              "The draft of this mail was changed in the mailbox since the host made it, and stays.")
        .no_effect();
  };
  if (const auto kept = noted()) {
    if (const auto now = present(*kept)) {
      if (now->message_id != kept->message_id) throw changed();
      delete_draft(kept->draft_id);
    }
  }
  // Of an attempt whose answer was lost nobody has noted the draft.
  for (const auto& id : drafts_by_message_id()) {
    bool edited = false;
    const auto left = whole(id, edited);
    if (left && edited) throw changed();
    if (left) delete_draft(id);
  }
}

/// The draft to send, made now or by an earlier attempt. Where that one turns out to have been sent: `result`.
Sending::Kept Sending::settled_draft(const Json& params, std::string* result) const {
  if (const auto kept = noted()) {
    if (const auto now = present(*kept)) {
      if (now->message_id != kept->message_id) throw edited_since();
      return *kept;
    }
    // A retry comes by itself, and one that a person asks for looks the same from here: what somebody has deleted or
    // sent in another form must not go out in its first one.
    auto found = find_sent();
    if (found.answer == KRUX_EFFECT_FOUND) {
      *result = std::move(found.result_json);
      return {};
    }
    if (found.answer == KRUX_EFFECT_ABSENT) throw gone();
    throw GmailError(ErrorKind::kUnavailable, "Whether an earlier attempt has sent the mail cannot be told.");
  }
  if (write_.attempt > 1) {
    bool edited = false;
    if (auto left = left_behind(edited)) {
      if (edited) throw edited_since();
      note(*left);
      return std::move(*left);
    }
  }
  auto made = create(params);
  note(made);
  return made;
}

Sending::Kept Sending::create(const Json& params) const {
  auto outgoing = built(params);
  std::string resource = R"({"message":{)";
  if (!outgoing.thread_id.empty()) resource += "\"threadId\":" + quoted(outgoing.thread_id);
  MailUpload upload(resource + "}}", outgoing.mail, write_.write_id);
  const auto draft = api_.upload(call_, "drafts.create", "upload/gmail/v1/users/me/drafts", upload);
  const auto* message = member(draft, "message");
  Kept kept{std::string(text_of(draft, "id")),
            std::string(message && message->IsObject() ? text_of(*message, "id") : std::string_view())};
  if (kept.draft_id.empty() || kept.message_id.empty()) throw malformed("drafts.create");
  return kept;
}

std::string Sending::send(const Json& params) const {
  std::string result;
  const auto draft = settled_draft(params, &result);
  if (!result.empty()) return result;
  call_.throw_if_cancelled();
  try {
    const auto sent = api_.send(call_, "drafts.send", "POST", "gmail/v1/users/me/drafts/send",
                                ObjectWriter().text("id", draft.draft_id).done());
    if (text_of(sent, "id").empty()) throw malformed("drafts.send");
    return sent_result(sent);
  } catch (const GmailError& error) {
    if (error.kind() != ErrorKind::kNotFound) throw;
    // The draft was there just now. Somebody deleted it, or an attempt that was given up has reached Gmail after all.
    throw GmailError(ErrorKind::kUnavailable, "The draft was gone when it was to be sent; perhaps it has been sent.");
  }
}

std::string Sending::make_draft(const Json& params) const {
  if (write_.attempt > 1) {
    bool edited = false;
    if (const auto left = left_behind(edited)) return draft_result(left->draft_id, left->message_id, params);
  }
  const auto made = create(params);
  return draft_result(made.draft_id, made.message_id, params);
}

EffectFound Sending::find_draft(const Json& params) const {
  bool edited = false;
  if (const auto left = left_behind(edited)) {
    return EffectFound::found(draft_result(left->draft_id, left->message_id, params));
  }
  return EffectFound::absent();
}

EffectFound Sending::find_sent() const {
  // Without an attempt of this host's nothing is known of the draft: another host may have made and sent it.
  if (write_.attempt > 0) {
    const auto kept = noted();
    // The draft's id is kept before it is asked to be sent.
    if (!kept) return EffectFound::disproved();
    if (present(*kept)) return EffectFound::disproved();
  }
  if (auto result = by_message_id()) return EffectFound::found(std::move(*result));
  return among_latest();
}

std::optional<std::string> Sending::by_message_id() const {
  const auto list =
      api_.get(call_, "messages.list",
               "gmail/v1/users/me/messages?includeSpamTrash=true&q=" + encoded("rfc822msgid:" + message_id()));
  for (const auto& id : ids_in(list, "messages", "messages.list")) {
    const auto message = api_.get(call_, "messages.get", metadata("gmail/v1/users/me/messages/" + encoded(id)));
    require_message(message, id, "messages.get");
    if (is_ours(message) && has_label(message, "SENT")) return sent_result(message);
  }
  return std::nullopt;
}

/// Every mail that was sent since the first attempt.
EffectFound Sending::among_latest() const {
  const auto first = write_.first_attempt_at_ms > 0 ? write_.first_attempt_at_ms : write_.created_at_ms;
  const auto since = std::max<std::int64_t>(0, first - kMarginMs) / 1000;
  const auto url =
      "gmail/v1/users/me/messages?labelIds=SENT&includeSpamTrash=true&maxResults=" + std::to_string(kPage) +
      "&q=" + encoded("after:" + std::to_string(since));
  std::string token;
  for (int looked = 0; looked < kMostLooked; looked += kPage) {
    call_.throw_if_cancelled();
    const auto page = api_.get(call_, "messages.list", token.empty() ? url : url + "&pageToken=" + encoded(token));
    std::vector<std::string> urls;
    const auto ids = ids_in(page, "messages", "messages.list");
    for (const auto& id : ids) urls.push_back(metadata("gmail/v1/users/me/messages/" + encoded(id)));
    const auto all = api_.get_many(call_, "messages.get", urls);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& fetched = all[i];
      if (fetched.error && fetched.error->kind() == ErrorKind::kNotFound) continue;  // deleted since the page was made
      if (fetched.error) throw GmailError(*fetched.error);
      require_message(fetched.body, ids[i], "messages.get");
      if (is_ours(fetched.body)) return EffectFound::found(sent_result(fetched.body));
    }
    const auto next = std::string(text_of(page, "nextPageToken"));
    if (next.empty()) return EffectFound::absent();
    if (next == token) break;
    token = next;
  }
  return EffectFound::cannot_tell("More than " + std::to_string(kMostLooked) +
                                  " mails were sent from the mailbox since then, so that the adapter did not look at "
                                  "all of them.");
}

}  // namespace gmail
