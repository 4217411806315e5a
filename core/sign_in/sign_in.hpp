// Sign-in of hosts that cannot send a fixed key: what a client, a request and a grant are. docs/sign-in.md
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace krux {

/// What a client says of itself, checked and bounded.
struct ClientMetadata {
  std::string name;  ///< perhaps empty
  std::vector<std::string> redirect_uris;
};

struct SignInClient {
  std::string client_id;  ///< "client_" + UUIDv7 of one that has registered, else the address of its document
  ClientMetadata metadata;
};

/// What a client asks for, checked but for whether anybody wants it.
struct SignInAsk {
  SignInClient client;
  std::string redirect_uri;
  std::optional<std::string> state;
  std::string challenge;  ///< S256
  std::string resource;   ///< the audience
  std::string peer;       ///< the address that it came from
};

enum class SignInDecision { kWaiting, kAccepted, kRejected };
const char* to_string(SignInDecision decision);

struct SignInRequest {
  /// "request_" and 16 hexadecimal digits: names it to who need not know its code.
  std::string request_id;
  std::string code;  ///< "BCDF-GHJK", for people: of who sees its page
  SignInAsk ask;
  std::int64_t begun_at_ms = 0, expires_at_ms = 0;
  SignInDecision decision = SignInDecision::kWaiting;
  std::string agent_id, decided_by;
};

struct SignInGrant {
  std::string grant_id;  ///< "grant_" + UUIDv7
  std::string client_id, client_name, redirect_host, resource, agent_id, accepted_by;
  std::int64_t begun_at_ms = 0, expires_at_ms = 0, used_at_ms = 0;
  std::int64_t ended_at_ms = 0;  ///< 0: it goes on
  std::string end_reason;
};

struct SignInTokens {
  std::string access_token, refresh_token;
  std::int64_t expires_in_ms = 0;
};

/// An OAuth endpoint refuses: what() is its description, a sentence for the client's author.
class SignInRefused final : public std::runtime_error {
 public:
  SignInRefused(const char* error, const std::string& description) : std::runtime_error(description), error_(error) {}
  const char* error() const { return error_; }  ///< "invalid_grant", as RFC 6749, 7591 and 8707 name it

 private:
  const char* error_;
};

/// Whose an access token is.
struct TokenOwner {
  std::string grant_id, agent_id;
};

/// Whether `text` has the form of an access token, and of no agent's key.
bool is_access_token(std::string_view text);

}  // namespace krux
