#include "emulators/gmail/methods.hpp"

namespace krux::test::gmail {
namespace {

constexpr std::size_t kMaxSend = 36700160, kMaxInsert = 157286400;

using Scopes = std::vector<const char*>;
const char* const kFull = "https://mail.google.com/";
const Scopes kRead = {kFull, "gmail.metadata", "gmail.modify", "gmail.readonly"};
const Scopes kModify = {kFull, "gmail.modify"};
const Scopes kDelete = {kFull};
const Scopes kCompose = {kFull, "gmail.addons.current.action.compose", "gmail.compose", "gmail.modify"};
const Scopes kSeeDrafts = {kFull, "gmail.compose", "gmail.modify", "gmail.readonly"};
const Scopes kSend = {kFull, "gmail.addons.current.action.compose", "gmail.compose", "gmail.modify", "gmail.send"};
const Scopes kInsert = {kFull, "gmail.insert", "gmail.modify"};
const Scopes kEditLabels = {kFull, "gmail.labels", "gmail.modify"};
const Scopes kSeeLabels = {kFull, "gmail.labels", "gmail.metadata", "gmail.modify", "gmail.readonly"};
const Scopes kProfile = {kFull, "gmail.compose", "gmail.metadata", "gmail.modify", "gmail.readonly"};
const Scopes kReadAddon = {kFull,
                           "gmail.addons.current.message.action",
                           "gmail.addons.current.message.metadata",
                           "gmail.addons.current.message.readonly",
                           "gmail.metadata",
                           "gmail.modify",
                           "gmail.readonly"};
const Scopes kAttachment = {kFull, "gmail.addons.current.message.action", "gmail.addons.current.message.readonly",
                            "gmail.modify", "gmail.readonly"};
const Scopes kListing = {"includeSpamTrash", "labelIds", "maxResults", "pageToken", "q"};

using Methods = std::vector<Method>;

Methods message_reading_methods() {
  return {
      {"gmail.users.messages.list", "GET", "messages", kRead, kListing, 5, Body::none, 0, messages_list},
      {"gmail.users.messages.get",
       "GET",
       "messages/{id}",
       kReadAddon,
       {"format", "metadataHeaders"},
       5,
       Body::none,
       0,
       messages_get},
      {"gmail.users.messages.attachments.get",
       "GET",
       "messages/{messageId}/attachments/{id}",
       kAttachment,
       {},
       5,
       Body::none,
       0,
       attachments_get},
  };
}

Methods message_making_methods() {
  return {
      {"gmail.users.messages.send", "POST", "messages/send", kSend, {}, 100, Body::message, kMaxSend, messages_send},
      {"gmail.users.messages.import",
       "POST",
       "messages/import",
       kInsert,
       {"deleted", "internalDateSource", "neverMarkSpam", "processForCalendar"},
       25,
       Body::message,
       kMaxInsert,
       messages_import},
      {"gmail.users.messages.insert",
       "POST",
       "messages",
       kInsert,
       {"deleted", "internalDateSource"},
       25,
       Body::message,
       kMaxInsert,
       messages_insert},
  };
}

Methods message_changing_methods() {
  return {
      {"gmail.users.messages.batchModify",
       "POST",
       "messages/batchModify",
       kModify,
       {},
       50,
       Body::batch_modify,
       0,
       messages_batch_modify},
      {"gmail.users.messages.batchDelete",
       "POST",
       "messages/batchDelete",
       kDelete,
       {},
       50,
       Body::batch_delete,
       0,
       messages_batch_delete},
      {"gmail.users.messages.delete", "DELETE", "messages/{id}", kDelete, {}, 10, Body::none, 0, messages_delete},
      {"gmail.users.messages.modify", "POST", "messages/{id}/modify", kModify, {}, 5, Body::modify, 0, messages_modify},
      {"gmail.users.messages.trash", "POST", "messages/{id}/trash", kModify, {}, 5, Body::none, 0, messages_trash},
      {"gmail.users.messages.untrash",
       "POST",
       "messages/{id}/untrash",
       kModify,
       {},
       5,
       Body::none,
       0,
       messages_untrash},
  };
}

Methods draft_methods() {
  return {
      {"gmail.users.drafts.list",
       "GET",
       "drafts",
       kSeeDrafts,
       {"includeSpamTrash", "maxResults", "pageToken", "q"},
       5,
       Body::none,
       0,
       drafts_list},
      {"gmail.users.drafts.create", "POST", "drafts", kCompose, {}, 10, Body::draft, kMaxSend, drafts_create},
      {"gmail.users.drafts.send", "POST", "drafts/send", kCompose, {}, 100, Body::draft, kMaxSend, drafts_send},
      {"gmail.users.drafts.get", "GET", "drafts/{id}", kSeeDrafts, {"format"}, 5, Body::none, 0, drafts_get},
      {"gmail.users.drafts.update", "PUT", "drafts/{id}", kCompose, {}, 15, Body::draft, kMaxSend, drafts_update},
      {"gmail.users.drafts.delete", "DELETE", "drafts/{id}", kCompose, {}, 10, Body::none, 0, drafts_delete},
  };
}

Methods label_methods() {
  return {
      {"gmail.users.labels.list", "GET", "labels", kSeeLabels, {}, 1, Body::none, 0, labels_list},
      {"gmail.users.labels.create", "POST", "labels", kEditLabels, {}, 5, Body::label, 0, labels_create},
      {"gmail.users.labels.get", "GET", "labels/{id}", kSeeLabels, {}, 1, Body::none, 0, labels_get},
      {"gmail.users.labels.patch", "PATCH", "labels/{id}", kEditLabels, {}, 5, Body::label, 0, labels_patch},
      {"gmail.users.labels.update", "PUT", "labels/{id}", kEditLabels, {}, 5, Body::label, 0, labels_update},
      {"gmail.users.labels.delete", "DELETE", "labels/{id}", kEditLabels, {}, 5, Body::none, 0, labels_delete},
  };
}

Methods thread_methods() {
  return {
      {"gmail.users.threads.list", "GET", "threads", kRead, kListing, 10, Body::none, 0, threads_list},
      {"gmail.users.threads.get",
       "GET",
       "threads/{id}",
       kReadAddon,
       {"format", "metadataHeaders"},
       10,
       Body::none,
       0,
       threads_get},
      {"gmail.users.threads.delete", "DELETE", "threads/{id}", kDelete, {}, 20, Body::none, 0, threads_delete},
      {"gmail.users.threads.modify", "POST", "threads/{id}/modify", kModify, {}, 10, Body::modify, 0, threads_modify},
      {"gmail.users.threads.trash", "POST", "threads/{id}/trash", kModify, {}, 10, Body::none, 0, threads_trash},
      {"gmail.users.threads.untrash", "POST", "threads/{id}/untrash", kModify, {}, 10, Body::none, 0, threads_untrash},
  };
}

Methods other_methods() {
  return {
      {"gmail.users.getProfile", "GET", "profile", kProfile, {}, 1, Body::none, 0, get_profile},
      {"gmail.users.history.list",
       "GET",
       "history",
       kRead,
       {"historyTypes", "labelId", "maxResults", "pageToken", "startHistoryId"},
       2,
       Body::none,
       0,
       history_list},
  };
}

const Methods& table() {
  static const Methods all = [] {
    Methods joined;
    for (const auto part : {other_methods, message_reading_methods, message_making_methods, message_changing_methods,
                            draft_methods, label_methods, thread_methods}) {
      for (Method& method : part()) joined.push_back(std::move(method));
    }
    return joined;
  }();
  return all;
}

std::vector<std::string> segments(const std::string& path) {
  std::vector<std::string> parts(1);
  for (const char c : path) {
    if (c == '/')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

bool fits(const std::vector<std::string>& pattern, const std::vector<std::string>& path,
          std::map<std::string, std::string>& values) {
  if (pattern.size() != path.size()) return false;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (pattern[i][0] != '{') {
      if (pattern[i] != path[i]) return false;
      continue;
    }
    const auto value = decode_form_component(path[i], false);
    if (!value || value->empty()) return false;
    values[pattern[i].substr(1, pattern[i].size() - 2)] = *value;
  }
  return true;
}

}  // namespace

const std::vector<Method>& all_methods() {
  return table();
}

const Method* find_method(const std::string& id) {
  for (const Method& method : table()) {
    if (id == method.id) return &method;
  }
  return nullptr;
}

const Method* route(const std::string& verb, const std::string& path, std::map<std::string, std::string>& values) {
  const std::vector<std::string> wanted = segments(path);
  for (const Method& method : table()) {
    if (verb != method.verb) continue;
    std::map<std::string, std::string> found;
    if (!fits(segments(std::string("{userId}/") + method.path), wanted, found)) continue;
    values = found;
    return &method;
  }
  return nullptr;
}

}  // namespace krux::test::gmail
