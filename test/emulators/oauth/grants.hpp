// The ledger of a provider: which codes and tokens were issued, for which grant, and which of them still work. Pure: no
// clock of its own, no HTTP, one thread.
#pragma once

#include "emulators/oauth/model.hpp"
#include "emulators/oauth/words.hpp"

namespace krux::test::oauth {

struct Issued {
  std::string access, refresh;  // refresh empty: none was issued
  std::int64_t seconds = 0;     // that the access token lives; 0: without end
};

enum class TokenState { unknown, live, expired, revoked };

struct AccessLookup {
  TokenState state = TokenState::unknown;
  const Grant* grant = nullptr;  // of every known token
};

enum class RefreshState { fresh, in_grace, outdated, expired, ended, unknown };

class Grants {
 public:
  Grants(Flavour flavour, const Behaviour& behaviour) : flavour_(flavour), behaviour_(behaviour) {}

  std::string add_code(Code code, std::int64_t now_ms);
  Code* code(const std::string& text);

  Grant& open(Grant grant);
  Grant* grant(const std::string& id);
  const std::map<std::string, Grant>& all() const { return grants_; }

  // A new access token and, if asked for, a new refresh token, for which the oldest ones over the limit end.
  Issued issue(Grant& grant, bool with_refresh, std::int64_t now_ms);

  RefreshState refresh_state(const std::string& refresh_token, std::int64_t now_ms) const;
  Grant* grant_of_refresh(const std::string& refresh_token);
  // The token must be fresh or in its grace. A rotating one becomes outdated, and its successor comes with the answer.
  Issued refresh(const std::string& refresh_token, std::int64_t now_ms);

  AccessLookup find(const std::string& access_token, std::int64_t now_ms) const;

  void end(Grant& grant, const std::string& why);
  // Every live grant of the client for that person; how many.
  int end_all(const std::string& client, const std::string& person, const std::string& why);
  // That token alone. False: there is none that works.
  bool revoke_token(const std::string& token, std::int64_t now_ms);
  // Makes every access token (of one person, unless empty) too old. How many.
  int expire_access(const std::string& person, std::int64_t now_ms);
  int expire_refresh(const std::string& person, std::int64_t now_ms);

  std::int64_t live_access(const std::string& grant, std::int64_t now_ms) const;
  std::int64_t live_refresh(const std::string& grant, std::int64_t now_ms) const;
  std::int64_t live_grants() const;
  std::vector<std::string> secrets() const;  // every code and token ever issued

 private:
  std::string new_access(const Grant& grant);
  void keep_newest_access(const Grant& grant);
  void keep_newest_refresh(const Grant& grant);
  bool belongs(const std::string& grant, const std::string& person) const;

  Flavour flavour_;
  const Behaviour& behaviour_;
  Mint mint_;
  std::int64_t next_grant_ = 1;
  std::map<std::string, Grant> grants_;
  std::map<std::string, Code> codes_;
  std::map<std::string, AccessToken> access_;
  std::map<std::string, RefreshToken> refresh_;
  std::vector<std::string> order_;  // of all access and refresh tokens, as they were issued
};

}  // namespace krux::test::oauth
