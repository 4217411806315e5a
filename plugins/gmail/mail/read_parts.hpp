// What a mail consists of: its texts, told part by part, and what is attached.
#pragma once

#include <string>
#include <string_view>

#include "gmime.hpp"
#include "read_mail.hpp"

namespace gmail {

/// Reads the texts and attachments into `content`. Depth and number of parts are bounded.
void read_parts(GMimeObject* mail, MailContent& content);

/// What a part says, in UTF-8; characters that nobody sees are still in it.
PartText part_text(GMimePart* part);

/// Plain text for HTML: escaped, with its lines.
std::string as_html(std::string_view text);

void add_problem(MailContent& content, std::string_view problem);

}  // namespace gmail
