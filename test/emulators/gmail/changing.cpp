#include "emulators/gmail/changing.hpp"

#include <algorithm>

namespace krux::test::gmail {
namespace {

MaybeFailure read_labels(const MethodContext& context, const char* name, std::size_t max, Labels& into) {
  const rapidjson::Value* given = find_member(*context.call.body, name);
  if (!given || !given->IsArray()) return std::nullopt;
  for (const auto& item : given->GetArray()) {
    const std::string id(item.GetString(), item.GetStringLength());
    const bool fixed = id == "SENT" || id == "DRAFT" || id == "CHAT";
    if (fixed || !context.mailbox.label(id)) return invalid_argument("Invalid label: " + id);
    if (!contains(into, id)) into.push_back(id);
  }
  if (into.size() > max) return invalid_argument("Too many labels: at most " + std::to_string(max));
  return std::nullopt;
}

}  // namespace

LabelChange with_consequences(const Behaviour& behaviour, LabelChange change) {
  const auto takes = [&](const char* place) {
    if (!contains(change.add, place) && !contains(change.remove, place)) change.remove.emplace_back(place);
  };
  const bool trashes = contains(change.add, "TRASH"), junks = contains(change.add, "SPAM");
  if ((trashes && behaviour.trash_leaves_inbox) || junks) takes("INBOX");
  if (!behaviour.one_place) return change;
  if (trashes || contains(change.add, "INBOX")) takes("SPAM");
  if (junks || contains(change.add, "INBOX")) takes("TRASH");
  return change;
}

MaybeFailure read_label_change(const MethodContext& context, std::size_t max_labels, LabelChange& into) {
  if (!context.call.body) return invalid_argument("No label add or removes specified");
  if (auto failure = read_labels(context, "addLabelIds", max_labels, into.add)) return failure;
  if (auto failure = read_labels(context, "removeLabelIds", max_labels, into.remove)) return failure;
  if (into.add.empty() && into.remove.empty()) return invalid_argument("No label add or removes specified");
  for (const std::string& label : into.add) {
    if (contains(into.remove, label)) return invalid_argument("Cannot both add and remove the same label");
  }
  const auto places = std::count_if(into.add.begin(), into.add.end(), [](const std::string& label) {
    return label == "INBOX" || label == "SPAM" || label == "TRASH";
  });
  if (places > 1) return invalid_argument("Can only add one of: INBOX, SPAM, TRASH");
  return std::nullopt;
}

MaybeFailure refuse_drafts(const Mailbox& mailbox, const std::vector<Id>& messages) {
  for (const Id id : messages) {
    if (mailbox.draft_of(id)) return invalid_argument("Labels cannot be changed on a draft");
  }
  return std::nullopt;
}

}  // namespace krux::test::gmail
