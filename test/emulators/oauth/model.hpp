// What an OAuth provider knows: clients, people, what people granted, and the codes and tokens that stand for it.
// Times are Unix milliseconds of the emulator's clock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace krux::test::oauth {

using Fields = std::map<std::string, std::string>;  // of a query string or a form
using Scopes = std::vector<std::string>;

enum class Flavour { google, slack };

// desktop: any loopback address and port (Google). web: the registered addresses exactly (Google). classic: registered
// https addresses and what lies below them, with the client's secret (Slack). pkce: a public client of Slack, whose
// localhost addresses take user scopes alone.
enum class ClientKind { desktop, web, classic, pkce };

struct Client {
  std::string id, secret;
  ClientKind kind = ClientKind::desktop;
  std::vector<std::string> redirects;
  bool rotation = false;  // every refresh gives a new refresh token
};

struct Person {
  std::string id;               // a mail address, a Slack user
  std::string name;             // for the page; empty: the id
  std::string team, team_name;  // Slack's
};

// Who a token speaks for.
enum class Speaker { user, bot };

struct Grant {
  std::string id;  // "grant-1"
  std::string client;
  Person person;
  Speaker speaker = Speaker::user;
  Scopes scopes;
  bool rotation = false, secretless = false;
  std::string ended;  // why it is over; empty while it lives
  std::int64_t issued_refresh = 0, refreshes = 0, outdated = 0;
};

struct AccessToken {
  std::string grant;
  std::int64_t issued_ms = 0, ends_ms = 0;  // ends_ms 0: never
  bool revoked = false;
};

struct RefreshToken {
  std::string grant;
  std::int64_t ends_ms = 0;                 // 0: never
  std::optional<std::int64_t> outdated_ms;  // when its successor was issued
  bool revoked = false;
};

struct Code {
  std::string client, redirect_uri, challenge;
  Person person;
  Scopes user_scopes, bot_scopes;
  bool redirect_was_sent = false, offline = true, user_only = false;
  std::int64_t ends_ms = 0;
  bool used = false;
  std::vector<std::string> grants;  // what it was exchanged for
};

struct Counters {
  std::int64_t pages = 0, codes = 0, denials = 0;
  std::int64_t exchanges = 0, exchanges_refused = 0, codes_reused = 0;
  std::int64_t refreshes = 0, refreshes_refused = 0, refreshes_outdated = 0, refreshes_in_grace = 0;
  std::int64_t revocations = 0;
};

// What tests may turn while the provider runs.
struct Behaviour {
  std::int64_t access_seconds = 3599;
  std::int64_t code_seconds = 600;
  std::int64_t refresh_seconds = 0;        // life of a refresh token; 0: no end
  std::int64_t grace_ms = 0;               // how long an outdated refresh token still works
  std::int64_t refresh_token_limit = 100;  // a client and person
  bool require_pkce = true;
  bool code_reuse_revokes = true;      // a second use of a code ends what the first one gave
  bool refresh_reuse_revokes = false;  // an outdated refresh token ends its grant
  std::int64_t deny = 0;               // so many of the next authorizations are refused without a page; -1: all
  std::int64_t refuse_refreshes = 0;   // so many of the next refreshes are refused; -1: all
  std::string refresh_error;           // with this word; empty: the flavour's own
};

}  // namespace krux::test::oauth
