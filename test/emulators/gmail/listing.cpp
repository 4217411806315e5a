#include "emulators/gmail/listing.hpp"

#include <fmt/format.h>

#include "emulators/gmail/codec.hpp"

namespace krux::test::gmail {
namespace {

std::optional<std::pair<std::int64_t, Id>> read_page_token(const std::string& token) {
  const auto bytes = decode_base64url(token);
  if (!bytes || bytes->size() != 33 || (*bytes)[16] != '-') return std::nullopt;
  const auto date = parse_id(bytes->substr(0, 16)), id = parse_id(bytes->substr(17));
  if (!date || !id) return std::nullopt;
  return std::pair(static_cast<std::int64_t>(*date), *id);
}

}  // namespace

bool Listing::fits(const Mailbox& mailbox, const Message& message) const {
  if (!spam_and_trash && (message.has("TRASH") || message.has("SPAM"))) return false;
  const bool labelled =
      std::all_of(labels.begin(), labels.end(), [&](const std::string& label) { return message.has(label); });
  return labelled && (!query || query->matches(mailbox, message));
}

MaybeFailure read_max_results(const Call& call, std::size_t& into) {
  const std::string text = call.in_query("maxResults");
  if (text.empty()) return std::nullopt;
  const bool number = text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
  if (!number) return invalid_value("max_results", "TYPE_UINT32", text);
  const std::size_t wanted = std::stoul(text);
  if (wanted > 500) return invalid_argument("Invalid value for maxResults: the maximum is 500");
  if (wanted > 0) into = wanted;
  return std::nullopt;
}

MaybeFailure metadata_only(const MethodContext& context, const char* what) {
  // Other scopes beside it do not help.
  if (!context.access.has("gmail.metadata")) return std::nullopt;
  return forbidden(fmt::format("Metadata scope {}", what));
}

MaybeFailure read_listing(const MethodContext& context, Listing& into) {
  const Call& call = context.call;
  if (auto failure = read_max_results(call, into.max)) return failure;
  into.labels = call.all_in_query("labelIds");
  for (const std::string& label : into.labels) {
    if (!context.mailbox.label(label)) return invalid_argument("Invalid label: " + label);
  }
  if (call.query.count("q") != 0) {
    if (auto failure = metadata_only(context, "does not support 'q' parameter")) return failure;
  }
  const std::string q = call.in_query("q");
  if (!q.empty()) into.query.emplace(q, context.now_ms);
  into.spam_and_trash = call.flag("includeSpamTrash") || contains(into.labels, "TRASH") ||
                        contains(into.labels, "SPAM") || (into.query && into.query->names_spam_or_trash());
  const std::string token = call.in_query("pageToken");
  if (token.empty()) return std::nullopt;
  into.after = read_page_token(token);
  if (!into.after) return invalid_argument("Invalid pageToken");
  return std::nullopt;
}

std::string make_page_token(const Message& last) {
  std::string token = encode_base64url(format_id(static_cast<std::uint64_t>(last.date_ms)) + "-" + format_id(last.id));
  while (token.back() == '=') token.pop_back();
  return token;
}

std::size_t estimate(std::size_t shown, bool more) {
  return more ? std::max<std::size_t>(201, shown) : shown;
}

}  // namespace krux::test::gmail
