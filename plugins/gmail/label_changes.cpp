#include "label_changes.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "composing.hpp"
#include "message_text.hpp"
#include "model.hpp"

namespace gmail {
namespace {

using kruxos::EffectFound;
using kruxos::ErrorKind;
using kruxos::ProxyError;

constexpr const char* kTrash = "TRASH";
constexpr const char* kInbox = "INBOX";

bool contains(const LabelSet& labels, std::string_view label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

LabelSet sorted(LabelSet labels) {
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

std::string list_json(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const auto& text : texts) out += (out.size() > 1 ? "," : "") + quoted(text);
  return out + "]";
}

/// A message is in one of them. Gmail adds only one at once, and says nowhere what becomes of the others then.
constexpr std::array<std::string_view, 3> kPlaces = {kTrash, "SPAM", kInbox};

/// The places that a change may take a message out of without being told to.
LabelSet taken_by(const LabelSet& add, const LabelSet& remove) {
  LabelSet taken;
  const auto is_in = [](const LabelSet& labels) {
    return [&](std::string_view place) { return contains(labels, place); };
  };
  if (std::none_of(kPlaces.begin(), kPlaces.end(), is_in(add))) return taken;
  for (const auto place : kPlaces) {
    if (!contains(add, place) && !contains(remove, place)) taken.emplace_back(place);
  }
  return taken;
}

/// What undoing a change takes.
struct Undo {
  LabelSet add, remove;
  bool operator<(const Undo& other) const { return std::tie(add, remove) < std::tie(other.add, other.remove); }
  bool nothing() const { return add.empty() && remove.empty(); }
};

/// Of a message that had `before`.
Undo undo_of(const LabelChange& change, const LabelSet& before) {
  Undo undo;
  bool was_moved = false;
  for (const auto& label : change.add) {
    if (contains(before, label)) continue;
    undo.remove.push_back(label);
    was_moved = was_moved || std::find(kPlaces.begin(), kPlaces.end(), label) != kPlaces.end();
  }
  for (const auto& label : change.remove) {
    if (contains(before, label)) undo.add.push_back(label);
  }
  for (const auto& label : change.taken) {
    if (was_moved && contains(before, label)) undo.add.push_back(label);
  }
  bool has_place = false;
  for (const auto place : kPlaces) {
    const auto at = std::find(undo.add.begin(), undo.add.end(), place);
    if (at != undo.add.end() && has_place) undo.add.erase(at);
    has_place = has_place || at != undo.add.end();
  }
  return undo;
}

/// Whether a message with `now` is still as the change was to leave it, in what it changed.
bool untouched(const LabelChange& change, const LabelSet& before, const LabelSet& now) {
  return std::all_of(change.add.begin(), change.add.end(),
                     [&](const auto& label) { return contains(before, label) || contains(now, label); }) &&
         std::none_of(change.remove.begin(), change.remove.end(),
                      [&](const auto& label) { return contains(before, label) && contains(now, label); });
}

bool undone(const Undo& undo, const LabelSet& now) {
  return std::none_of(undo.remove.begin(), undo.remove.end(),
                      [&](const auto& label) { return contains(now, label); }) &&
         std::all_of(undo.add.begin(), undo.add.end(), [&](const auto& label) { return contains(now, label); });
}

bool holds(const LabelChange& change, const LabelSet& now) {
  return std::all_of(change.add.begin(), change.add.end(), [&](const auto& label) { return contains(now, label); }) &&
         std::none_of(change.remove.begin(), change.remove.end(),
                      [&](const auto& label) { return contains(now, label); });
}

std::string result_of(std::string_view operation, const LabelChange& change, const LabelSets& now) {
  if (operation == "email.bulk_delete") return ObjectWriter().raw("message_ids", list_json(change.messages)).done();
  const auto& id = change.messages.front();
  ObjectWriter result;
  result.text("message_id", id);
  if (const auto at = now.find(id); at != now.end()) result.raw("labels", list_json(at->second));
  return result.done();
}

/// Sets of labels stand once: a thousand messages have few different ones.
std::string point_json(const LabelSets& before) {
  std::map<LabelSet, int> sets;
  std::vector<std::string> texts;
  ObjectWriter of;
  for (const auto& [id, labels] : before) {
    const auto [at, is_new] = sets.emplace(labels, static_cast<int>(texts.size()));
    if (is_new) texts.push_back(list_json(labels));
    of.integer(id, at->second);
  }
  std::string all = "[";
  for (const auto& text : texts) all += (all.size() > 1 ? "," : "") + text;
  return ObjectWriter().raw("sets", all + "]").raw("of", of.done()).done();
}

LabelSets sets_of_point(std::string_view point_json) {
  LabelSets out;
  const auto point = parse(point_json);
  const auto* sets = point.HasParseError() ? nullptr : member(point, "sets");
  const auto* of = point.HasParseError() ? nullptr : member(point, "of");
  if (!sets || !sets->IsArray() || !of || !of->IsObject()) return out;
  for (const auto& one : of->GetObject()) {
    const auto index = one.value.IsUint() ? one.value.GetUint() : sets->Size();
    if (index >= sets->Size() || !(*sets)[index].IsArray()) continue;
    LabelSet labels;
    for (const auto& label : (*sets)[index].GetArray()) {
      if (label.IsString()) labels.emplace_back(label.GetString(), label.GetStringLength());
    }
    out.emplace(std::string(one.name.GetString(), one.name.GetStringLength()), std::move(labels));
  }
  return out;
}

ProxyError conflict(const std::string& sentence) {
  ProxyError error(ErrorKind::kConflict, sentence);
  error.no_effect();
  return error;
}

}  // namespace

bool LabelChanges::handles(std::string_view operation) {
  return operation == "email.label" || operation == "email.move" || operation == "email.delete" ||
         operation == "email.bulk_delete";
}

LabelChange LabelChanges::change_of(std::string_view operation, const Json& params) {
  LabelChange change;
  if (operation == "email.bulk_delete") {
    change.messages = sorted(texts_of(params, "message_ids"));
  } else {
    change.messages = {std::string(text_of(params, "message_id"))};
  }
  change.is_deletion = operation == "email.delete" || operation == "email.bulk_delete";
  if (change.is_deletion) {
    change.add = {kTrash};
  } else {
    change.add = sorted(texts_of(params, "add_labels"));
    change.remove = sorted(texts_of(params, "remove_labels"));
  }
  change.taken = taken_by(change.add, change.remove);
  return change;
}

LabelSets LabelChanges::present(const std::vector<std::string>& messages) const {
  std::vector<std::string> urls;
  urls.reserve(messages.size());
  for (const auto& id : messages) {
    urls.push_back("gmail/v1/users/me/messages/" + encoded(id) + "?format=minimal&fields=id,labelIds");
  }
  auto fetched = api_.get_many(call_, "messages.get", urls);
  LabelSets out;
  for (std::size_t i = 0; i < fetched.size(); ++i) {
    if (fetched[i].error) throw GmailError(*fetched[i].error);
    if (text_of(fetched[i].body, "id") != messages[i] || !has_texts(fetched[i].body, "labelIds"))
      throw malformed("messages.get");
    out.emplace(messages[i], sorted(texts_of(fetched[i].body, "labelIds")));
  }
  return out;
}

void LabelChanges::modify(const std::vector<std::string>& messages, const LabelSet& add, const LabelSet& remove) const {
  ObjectWriter body;
  if (messages.size() > 1) body.raw("ids", list_json(messages));
  if (!add.empty()) body.raw("addLabelIds", list_json(add));
  if (!remove.empty()) body.raw("removeLabelIds", list_json(remove));
  const auto url = messages.size() > 1 ? "gmail/v1/users/me/messages/batchModify"
                                       : "gmail/v1/users/me/messages/" + encoded(messages.front()) + "/modify";
  api_.send(call_, messages.size() > 1 ? "messages.batchModify" : "messages.modify", "POST", url, body.done());
}

std::string LabelChanges::execute(std::string_view operation, const Json& params) const {
  const auto change = change_of(operation, params);
  if (change.messages.empty()) throw ProxyError(ErrorKind::kInvalid, "The write names no message.").no_effect();
  if (operation == "email.bulk_delete" && change.messages.size() > 1) {
    // As Gmail's own deletion: out of the inbox as well.
    modify(change.messages, change.add, {kInbox});
    return result_of(operation, change, {});
  }
  const auto url = "gmail/v1/users/me/messages/" + encoded(change.messages.front());
  ObjectWriter body;
  body.raw("addLabelIds", list_json(change.add)).raw("removeLabelIds", list_json(change.remove));
  const auto message = change.is_deletion ? api_.send(call_, "messages.trash", "POST", url + "/trash", "")
                                          : api_.send(call_, "messages.modify", "POST", url + "/modify", body.done());
  LabelSets now;
  if (member(message, "labelIds")) now.emplace(change.messages.front(), sorted(texts_of(message, "labelIds")));
  return result_of(operation, change, now);
}

EffectFound LabelChanges::find(std::string_view operation, const Json& params) const {
  const auto change = change_of(operation, params);
  if (change.messages.empty()) return EffectFound::cannot_tell("The write names no message.");
  const auto now = present(change.messages);
  const bool all = std::all_of(now.begin(), now.end(), [&](const auto& one) { return holds(change, one.second); });
  return all ? EffectFound::found(result_of(operation, change, now)) : EffectFound::absent();
}

std::string LabelChanges::point(std::string_view operation, const Json& params) const {
  return point_json(present(change_of(operation, params).messages));
}

std::string LabelChanges::undo(const kruxos::RollbackRequest& request, const Json& params) const {
  const auto change = change_of(request.operation, params);
  std::map<Undo, std::vector<std::string>> groups;
  const auto before = sets_of_point(request.point_json);
  const auto now = present(change.messages);
  for (const auto& id : change.messages) {
    const auto was = before.find(id);
    if (was == before.end()) throw conflict("What the labels of " + id + " were before is not known.");
    auto undo = undo_of(change, was->second);
    if (undo.nothing()) continue;
    const auto& is = now.at(id);
    if (!untouched(change, was->second, is) && !request.force) {
      throw conflict("The labels of " + id + " were changed since; undo it anyway only if that is what you want.");
    }
    if (!undone(undo, is)) groups[std::move(undo)].push_back(id);
  }
  for (const auto& [undo, ids] : groups) modify(ids, undo.add, undo.remove);
  return R"({"status":"ok"})";
}

EffectFound LabelChanges::find_undone(const kruxos::RollbackRequest& request, const Json& params) const {
  const auto change = change_of(request.operation, params);
  const auto before = sets_of_point(request.point_json);
  const auto now = present(change.messages);
  for (const auto& [id, labels] : now) {
    const auto was = before.find(id);
    if (was == before.end()) return EffectFound::cannot_tell("What the labels of " + id + " were before is not known.");
    if (!undone(undo_of(change, was->second), labels)) return EffectFound::absent();
  }
  return EffectFound::found("{}");
}

}  // namespace gmail
