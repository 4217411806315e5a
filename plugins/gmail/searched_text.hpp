// What is searched of a message besides its words: tags for its labels and for facts about it, and texts of their own
// for what has an operator of its own, where a bare word does not meet them.
#pragma once

#include <string>
#include <string_view>

#include "mail/headers.hpp"

namespace gmail {

/// Folded as the replica folds: normal form and case.
std::string folded(std::string_view text);

/// Tags that are no labels' ids: facts, and the lack of labels that most messages have: a search for what is not in the
/// inbox would have to look at all that is.
inline constexpr const char* kHasAttachment = "/attachment";
inline constexpr const char* kHasUserLabel = "/user-label";
/// The tag of a message that lacks the label; empty where messages without it have none.
std::string lacking(std::string_view label_id);
/// The labels whose lack has a tag.
inline constexpr const char* kTaggedAsLacking[] = {"INBOX", "UNREAD", "IMPORTANT"};

/// The named texts of a message. Those of people are exact: the functions below fold what is folded.
inline constexpr const char* kFromText = "from";
inline constexpr const char* kToText = "to";
inline constexpr const char* kCcText = "cc";
inline constexpr const char* kBccText = "bcc";
inline constexpr const char* kSubjectText = "subject";
inline constexpr const char* kFilenameText = "filename";

/// A name and its address. What stands in a name is no address: its "@", "." and brackets are other characters than
/// those of addresses. A part of it: `Amy <amy@example.com>` is the end of a name and its whole address.
std::string person_text(std::string_view name, std::string_view address);
/// A part of a name; nothing of an address fits where it holds "@" or ".".
std::string name_text(std::string_view part);
/// A part of an address, of no name; as a whole address, or as the end of one (an address' domain).
enum class Anchor { kNone, kWhole, kEnd };
std::string address_text(std::string_view part, Anchor anchor = Anchor::kNone);

}  // namespace gmail
