// Label changes as messages.*, threads.* and people make them.
#pragma once

#include "emulators/gmail/methods.hpp"

namespace krux::test::gmail {

struct LabelChange {
  Labels add, remove;
};

// What adding these means: a message is in the inbox, in the trash or among spam, as far as the behaviour has it so.
LabelChange with_consequences(const Behaviour& behaviour, LabelChange change);
// addLabelIds and removeLabelIds of the body, checked.
MaybeFailure read_label_change(const MethodContext& context, std::size_t max_labels, LabelChange& into);
// A draft takes no label.
MaybeFailure refuse_drafts(const Mailbox& mailbox, const std::vector<Id>& messages);

}  // namespace krux::test::gmail
