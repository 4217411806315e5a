// Whom a message names and what about, as records and blobs of the replica have it.
#pragma once

#include <kruxos/adapter.hpp>

#include <string>

#include "json.hpp"
#include "mail/headers.hpp"

namespace gmail {

inline constexpr std::size_t kLongestHeader = 16 << 10, kLongestName = 512;  ///< of a record, in bytes

/// Whether the sender of an answer to message_url() is certain only by the mail itself. Google does not say whether the
/// values of headers are as they stand in the mail, or with their encoded words decoded. A decoded one that holds more
/// than one
/// "@" may be one sender whose name is written like an address, or several.
bool has_doubtful_sender(const Json& json);

/// Kept within a record's bounds.
MailHead bounded(MailHead head);
/// `head` as JSON, and back. In a record, and in the blob kHeadBlob beside one: what the mail itself says, as far as it
/// was fetched.
void write_head(const MailHead& head, ObjectWriter& out);
void read_head(const Json& json, MailHead& head);
inline constexpr const char* kHeadBlob = "head";
/// `head` replaced by what the mail of that id itself says, where that is kept.
void take_kept_head(const kruxos::Reader& reader, const std::string& id, MailHead& head);

}  // namespace gmail
