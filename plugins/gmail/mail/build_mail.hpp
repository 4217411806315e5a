// A draft made into a mail by GMime: its text, and where its attachments belong.
#pragma once

#include <functional>

#include "bytes.hpp"
#include "draft.hpp"
#include "encoded_bytes.hpp"

namespace gmail {

/// An attachment whose place is behind the text that came before it. Must not throw.
using OnAttachment = std::function<void(EncodedBytes)>;

/// Of a draft that check_draft has taken. Throws what `on_text` throws.
void build_mail(const MessageDraft& draft, const ByteSink& on_text, const OnAttachment& on_attachment);

}  // namespace gmail
