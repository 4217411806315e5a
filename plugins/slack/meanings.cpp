// What Slack's errors mean. The names and what they say of themselves are in Slack's reference of each method.
#include <algorithm>

#include "api_client.hpp"

namespace slack {
namespace {

using enum kruxos::ErrorKind;

struct Meaning {
  std::string_view name;
  kruxos::ErrorKind kind;
  std::string_view type, sentence;
};

// All of these certainly had no effect: Slack refuses before it acts. Errors that are not listed leave that open, for
// Slack adds new ones, says of internal_error and fatal_error that a part of the operation may have succeeded, and says
// nothing of that about service_unavailable.
constexpr Meaning kMeanings[] = {
    // The token.
    {"not_authed", kAuth, "NotConnected", "No token reached Slack"},
    {"invalid_auth", kAuth, "NotConnected", "Slack does not know this token; connect again with a new one"},
    {"account_inactive", kAuth, "NotConnected", "The token's user or workspace is gone; connect again"},
    {"token_revoked", kAuth, "NotConnected", "The token was revoked; connect again with a new one"},
    {"token_expired", kAuth, "NotConnected", "The token has expired; connect again with a new one"},
    {"missing_scope", kAuth, "NotConnected", "The Slack app lacks a scope"},
    {"no_permission", kAuth, "NotConnected", "The token lacks a permission that this needs"},
    {"not_allowed_token_type", kAuth, "NotConnected", "This needs another type of token"},
    {"team_access_not_granted", kAuth, "NotConnected", "The app is not approved for this workspace"},
    {"two_factor_setup_required", kAuth, "NotConnected", "The token's user must set up two-factor authentication"},
    {"app_access_restricted", kAuth, "NotConnected", "The token's user may not use this app"},
    // For now.
    {"ratelimited", kRateLimited, "RateLimited", "Slack asks to slow down"},
    {"rate_limited", kRateLimited, "RateLimited", "Slack asks to slow down"},
    {"message_limit_exceeded", kRateLimited, "RateLimited", "The workspace's message limit is reached"},
    {"accesslimited", kUnavailable, "WriteFailed", "The network that the host is on may not use this method"},
    {"ekm_access_denied", kUnavailable, "WriteFailed", "The workspace's administrators have suspended this"},
    {"external_channel_migrating", kUnavailable, "WriteFailed", "The channel is being migrated"},
    {"org_login_required", kUnavailable, "ServiceUnavailable", "The workspace is being migrated to an organization"},
    {"request_timeout", kUnavailable, "ServiceUnavailable", "The request did not reach Slack whole"},
    {"team_added_to_org", kUnavailable, "ServiceUnavailable", "The workspace is being migrated to an organization"},
    // The channel.
    {"channel_not_found", kNotFound, "InvalidInput", "There is no such channel, or the bot cannot see it"},
    {"channel_is_limited_access", kRefused, "WriteFailed", "The token has no access to this channel"},
    {"not_in_channel", kRefused, "WriteFailed", "The bot is not in this channel; invite it there first"},
    {"is_archived", kRefused, "WriteFailed", "The channel is archived"},
    {"messages_tab_disabled", kRefused, "WriteFailed", "The app's messages are turned off"},
    {"restricted_action", kRefused, "WriteFailed", "A workspace setting forbids this"},
    {"restricted_action_read_only_channel", kRefused, "WriteFailed", "The channel is read only"},
    {"restricted_action_thread_only_channel", kRefused, "WriteFailed", "The channel takes only replies"},
    {"restricted_action_non_threadable_channel", kRefused, "WriteFailed", "The channel takes no replies"},
    {"restricted_action_thread_locked", kRefused, "WriteFailed", "The thread is locked"},
    {"thread_locked", kRefused, "WriteFailed", "The thread is locked"},
    {"method_not_supported_for_channel_type", kRefused, "WriteFailed", "This kind of channel does not have that"},
    {"team_not_found", kRefused, "InvalidInput", "Slack does not find the channel's workspace; give the channel's id"},
    // The message.
    {"msg_too_long", kRefused, "InvalidInput", "The text is too long for one message"},
    {"no_text", kRefused, "InvalidInput", "The text is empty"},
    {"invalid_metadata_format", kRefused, "WriteFailed", "Slack does not accept the message's metadata"},
    {"invalid_metadata_schema", kRefused, "WriteFailed", "Slack does not accept the message's metadata"},
    {"metadata_too_large", kRefused, "WriteFailed", "The message's metadata is too large"},
    {"metadata_must_be_sent_from_app", kRefused, "WriteFailed",
     "Slack takes messages with a mark from an app's token only; connect with the token of an app"},
    {"message_not_found", kNotFound, "MessageNotFound", "There is no such message"},
    {"thread_not_found", kNotFound, "MessageNotFound", "There is no such thread"},
    {"bad_timestamp", kRefused, "InvalidInput", "This is not a message's timestamp"},
    {"invalid_ts_latest", kRefused, "InvalidInput", "This is not a message's timestamp"},
    {"invalid_ts_oldest", kRefused, "InvalidInput", "This is not a message's timestamp"},
    {"no_item_specified", kRefused, "InvalidInput", "The message is missing"},
    {"cannot_reply_to_message", kRefused, "WriteFailed", "This message cannot be replied to"},
    {"cant_delete_message", kRefused, "WriteFailed", "Slack does not let this token delete the message"},
    {"compliance_exports_prevent_deletion", kRefused, "WriteFailed", "Compliance settings keep the message"},
    // Reactions.
    {"invalid_name", kRefused, "InvalidInput", "There is no reaction of this name"},
    {"already_reacted", kRefused, "WriteFailed", "The reaction is there already"},
    {"no_reaction", kRefused, "WriteFailed", "The reaction is not there"},
    {"not_reactable", kRefused, "WriteFailed", "This cannot be reacted to"},
    {"too_many_emoji", kRefused, "WriteFailed", "The message has as many different reactions as Slack allows"},
    {"too_many_reactions", kRefused, "WriteFailed", "The token's user has as many reactions there as Slack allows"},
    // The caller.
    {"access_denied", kRefused, "WriteFailed", "Slack denies access to this"},
    {"no_access", kRefused, "WriteFailed", "Slack denies access to this"},
    {"enterprise_is_restricted", kRefused, "WriteFailed", "This cannot be done from an organization"},
    {"user_is_bot", kRefused, "WriteFailed", "A bot may not do this"},
    {"user_is_restricted", kRefused, "WriteFailed", "The token's user is restricted"},
    // The request.
    {"invalid_arguments", kRefused, "InvalidInput", "Slack does not accept these arguments"},
    {"invalid_arg_name", kRefused, "WriteFailed", "Slack does not accept these arguments"},
    {"invalid_array_arg", kRefused, "WriteFailed", "Slack does not accept these arguments"},
    {"missing_argument", kRefused, "InvalidInput", "An argument is missing"},
    {"invalid_charset", kRefused, "WriteFailed", "Slack does not accept the request's form"},
    {"invalid_form_data", kRefused, "WriteFailed", "Slack does not accept the request's form"},
    {"invalid_json", kRefused, "WriteFailed", "Slack does not accept the request's form"},
    {"json_not_object", kRefused, "WriteFailed", "Slack does not accept the request's form"},
    {"invalid_post_type", kRefused, "WriteFailed", "Slack does not accept the request's form"},
    {"missing_post_type", kRefused, "WriteFailed", "Slack does not accept the request's form"},
    {"invalid_cursor", kRefused, "ServiceUnavailable", "The page's cursor is no longer valid"},
    {"invalid_limit", kRefused, "ServiceUnavailable", "Slack does not accept the size of the page"},
    {"limit_required", kRefused, "ServiceUnavailable", "Slack does not accept the size of the page"},
    {"invalid_types", kRefused, "ServiceUnavailable", "Slack does not list these kinds of channels"},
    {"unknown_method", kRefused, "WriteFailed", "The service does not know this method; check api_base_url"},
    {"method_deprecated", kRefused, "WriteFailed", "Slack has retired this method"},
    {"deprecated_endpoint", kRefused, "WriteFailed", "Slack has retired this method"},
    {"upgrade_required", kRefused, "WriteFailed", "Slack asks for a TLS connection"},
};

/// As much of a service's word as may stand in a sentence.
std::string shown(std::string_view word) {
  std::string out;
  for (const char c : word.substr(0, 100)) out += c >= ' ' && c <= '~' ? c : '?';
  return out;
}

}  // namespace

SlackError error_of(std::string_view method, std::string_view name, const Json* body) {
  const auto at =
      std::find_if(std::begin(kMeanings), std::end(kMeanings), [&](const Meaning& m) { return m.name == name; });
  if (at == std::end(kMeanings)) {
    SlackError error(kUnavailable,
                     "Slack answered with the error \"" + shown(name) + "\" (" + std::string(method) + ").",
                     shown(name));
    error.type("ServiceUnavailable");
    return error;
  }
  std::string sentence(at->sentence);
  if (name == "missing_scope" && body) {
    sentence += " \"" + shown(text_of(*body, "needed", "unknown")) +
                "\"; add it to the app, install it again, and connect again";
  }
  SlackError error(at->kind, sentence + " (" + std::string(method) + ": " + std::string(name) + ").",
                   std::string(name));
  error.type(std::string(at->type)).no_effect();
  return error;
}

}  // namespace slack
