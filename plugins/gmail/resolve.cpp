#include "resolve.hpp"

#include <algorithm>

#include "body.hpp"
#include "mail/outgoing_mail.hpp"
#include "mail/recipients.hpp"
#include "search.hpp"
#include "write.hpp"

namespace gmail {
namespace {

bool is_fixed(std::string_view id) {
  return id == "SENT" || id == "DRAFT" || id == "CHAT";
}

/// The ids that a parameter's names stand for, sorted.
std::vector<std::string> label_ids(const Json& params, const char* name, const LabelNames& labels) {
  std::vector<std::string> ids;
  const auto* list = member(params, name);
  if (!list || list->IsNull()) return ids;
  if (!list->IsArray()) throw invalid(std::string("\"") + name + "\" is no list of labels.");
  for (const auto& one : list->GetArray()) {
    if (!one.IsString()) throw invalid(std::string("\"") + name + "\" is no list of labels.");
    const std::string wanted(one.GetString(), one.GetStringLength());
    auto found = labels.ids(wanted);
    if (found.size() != 1) throw invalid("\"" + wanted + "\" stands for several labels; give the id of one.");
    if (is_fixed(found.front())) throw invalid("Gmail sets the label \"" + wanted + "\" itself; it cannot be changed.");
    ids.push_back(std::move(found.front()));
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::string with_labels(const Json& params, const LabelNames& labels) {
  const auto add = label_ids(params, "add_labels", labels), remove = label_ids(params, "remove_labels", labels);
  if (add.empty() && remove.empty()) {
    throw invalid("Give add_labels or remove_labels: names or ids of labels.").type("NoLabelsProvided");
  }
  const auto places = std::count_if(
      add.begin(), add.end(), [](const std::string& id) { return id == "INBOX" || id == "SPAM" || id == "TRASH"; });
  if (places > 1) throw invalid("A message is in one of INBOX, SPAM and TRASH: add only one of them.");
  for (const auto& id : add) {
    if (std::binary_search(remove.begin(), remove.end(), id)) {
      throw invalid("The label \"" + labels.name(id) + "\" is both to be added and removed.");
    }
  }
  ObjectWriter out;
  for (const auto& item : params.GetObject()) {
    const std::string_view name(item.name.GetString(), item.name.GetStringLength());
    if (name == "add_labels" || name == "remove_labels" || !item.value.IsString()) continue;
    out.text(name, {item.value.GetString(), item.value.GetStringLength()});
  }
  if (!add.empty()) out.raw("add_labels", quoted_list(add));
  if (!remove.empty()) out.raw("remove_labels", quoted_list(remove));
  return out.done();
}

/// Whether it can be made into a mail that is not too large, and its recipients are some.
void check_mail(const Json& params, std::string_view own_address) {
  auto draft = composed(params, own_address);
  draft.message_id = "w_0@example.com";
  (void)OutgoingMail(draft);
}

void check_forward(const Json& params) {
  auto to = parse_recipients("to", text_of(params, "to"));
  std::vector<MailAddress> none, neither;
  settle_recipients(to, none, neither);
}

/// Whoever looks at a reply sees whom it goes to, and it goes to nobody else. A mail that is not known yet is not
/// answered.
std::string with_recipients(const kruxos::Reader& reader, const Json& params, std::string_view own_address) {
  const auto record = reader.get(kMessages, text_of(params, "message_id"));
  auto original = record ? message_from_record(*record) : std::nullopt;
  if (!original) throw no_such_message(std::string(text_of(params, "message_id")));
  const bool all = flag_of(params, "reply_all");
  ObjectWriter out;
  out.text("message_id", text_of(params, "message_id")).text("body", text_of(params, "body")).flag("reply_all", all);
  take_kept_head(reader, original->id, *original);
  const auto head = reply_head(*original, all, own_address);
  out.text("to", head.to);
  if (!head.cc.empty()) out.text("cc", head.cc);
  out.text("subject", head.subject);
  // By this the definition keeps a conversation's mails in order.
  if (!original->thread_id.empty()) out.text("thread_id", original->thread_id);
  return out.done();
}

void check_bulk(const Json& params) {
  const auto* ids = member(params, "message_ids");
  if (!ids || !ids->IsArray() || ids->Empty()) throw invalid("\"message_ids\" is no list of messages' ids.");
  const bool texts =
      std::all_of(ids->Begin(), ids->End(), [](const Json& id) { return id.IsString() && id.GetStringLength() > 0; });
  if (!texts) throw invalid("\"message_ids\" is no list of messages' ids.");
  if (ids->Size() > kMostDeletedAtOnce) {
    throw invalid("At most " + std::to_string(kMostDeletedAtOnce) +
                  " messages are deleted at once; use several calls.");
  }
}

}  // namespace

std::string resolve(const kruxos::Reader& reader, std::string_view operation, std::string_view params_json,
                    std::string_view own_address) {
  const auto params = parse(params_json);
  if (params.HasParseError() || !params.IsObject()) throw invalid("The arguments are not one JSON object.");
  if (operation == "email.label" || operation == "email.move") return with_labels(params, LabelNames(reader));
  if (operation == "email.send" || operation == "email.draft") check_mail(params, own_address);
  if (operation == "email.reply") return with_recipients(reader, params, own_address);
  if (operation == "email.forward") check_forward(params);
  if (operation == "email.bulk_delete") check_bulk(params);
  return std::string(params_json);
}

}  // namespace gmail
