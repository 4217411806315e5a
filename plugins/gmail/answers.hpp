// What agents are shown of mails. What a mail does not have is left out.
#pragma once

#include <kruxos/kit/excerpt.hpp>

#include <string>

#include "json.hpp"
#include "model.hpp"
#include "search.hpp"

namespace gmail {

/// The fields of email.search.
void write_found(const Message& message, const LabelNames& labels, ObjectWriter& out);
/// Those of email.read, beside the text and the attachments: what these say is not said here.
void write_opened(const Message& message, const LabelNames& labels, ObjectWriter& out);

/// How much of a text is wanted, by the inputs max_chars and offset; in characters.
struct Window {
  explicit Window(const Json& params);
  Excerpt of(std::string_view text) const { return excerpt(text, offset, most); }
  std::size_t most, offset;
};

/// `kept`: a body as body_of() makes it. Its HTML, where it is wanted, is cut as its text is; next_offset is there as
/// long as one of them goes on.
std::string body_json(const Json& kept, const Window& window, bool with_html);

/// One of the attachments that body_of() lists.
void write_attachment(const Json& kept, ObjectWriter& out);
std::string attachments_json(const Json& kept);

}  // namespace gmail
