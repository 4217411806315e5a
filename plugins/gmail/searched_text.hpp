// What is searched of a message besides its words: marks and hidden texts, in characters that no message has there.
//
// The replica finds any four characters of a record's text by its index, and fields only by looking at rows. So a
// label is four characters of Unicode's private area, which makes `label:` one look-up, and what has an operator of its
// own (sender, recipients, subject, names of attachments) stands in the text once more, byte by byte in a range of that
// area, where a bare word does not meet it. These characters are taken out of what people wrote and of what is searched
// for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mail/headers.hpp"

namespace gmail {

/// Valid UTF-8 without characters of U+E000 to U+F8FF and without separators (char 31, NUL).
std::string plain(std::string_view text);

/// Folded as the replica folds: normal form and case.
std::string folded(std::string_view text);

/// Four characters for a label's id, or for a fact about a message (below). Made of 43 bits of a hash.
std::string mark(std::string_view id);

/// Facts that are no labels, and the lack of labels that most messages have: a search for what is not in the inbox
/// would have to look at all that is.
inline constexpr const char* kHasAttachment = "/attachment";
inline constexpr const char* kHasUserLabel = "/user-label";
/// The mark's id for a message that lacks the label; empty where messages without it are not marked.
std::string lacking(std::string_view label_id);
/// The labels whose lack is marked.
inline constexpr const char* kMarkedAsLacking[] = {"INBOX", "UNREAD", "IMPORTANT"};

enum class Hidden { kFilename, kFrom, kTo, kCc, kBcc, kSubject };
/// `text` folded, in characters of that range: a part of it is a part of the result.
std::string hidden(Hidden range, std::string_view text);

/// Each name and address by itself. What stands in a name is no address: its "@", "." and brackets are other
/// characters than those of addresses.
std::string hidden_people(Hidden range, const std::vector<MailAddress>& people);
/// A part of a name among them; nothing of an address fits where it holds "@" or ".".
std::string hidden_name(Hidden range, std::string_view part);
/// A part of an address among them, of no name; as a whole address, or as the end of one (an address' domain).
enum class Anchor { kNone, kWhole, kEnd };
std::string hidden_address(Hidden range, std::string_view part, Anchor anchor = Anchor::kNone);
/// `Amy <amy@example.com>`: the end of a name and its whole address.
std::string hidden_person(Hidden range, std::string_view name, std::string_view address);

}  // namespace gmail
