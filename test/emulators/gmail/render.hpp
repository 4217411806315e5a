// Messages as the API shows them. What is empty is left out, as Google does.
#pragma once

#include "emulators/gmail/state.hpp"

namespace krux::test::gmail {

enum class Format { minimal, metadata, full, raw };

struct View {
  Format format = Format::full;
  std::vector<std::string> metadata_headers;  // none: all
  bool decodes_headers = true;
  int inline_text_max = 100000;
  std::uint64_t* handles = nullptr;  // numbers what is given out as an attachmentId
};

// The fields of a message; the object is open.
void render_message(const Message& message, const View& view, JsonOut& out);
// id, threadId and labelIds alone.
void render_reference(const Message& message, JsonOut& out, bool with_labels);
void render_labels(const Labels& labels, JsonOut& out);
void render_label(const Label& label, JsonOut& out);

// An attachment's handle: another one at every look, each good for the part that it was made for.
std::string make_attachment_id(Id message, const std::string& part, std::uint64_t number);
// The part's id, if this is a handle of that message.
std::optional<std::string> read_attachment_id(Id message, const std::string& handle);
const Part* find_part(const Part& mail, const std::string& id);

}  // namespace krux::test::gmail
