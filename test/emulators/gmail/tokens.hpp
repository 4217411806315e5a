// Who may call: access tokens, the mailbox that each is for, and what it may do there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krux::test::gmail {

struct Access {
  std::string address;              // the mailbox
  std::vector<std::string> scopes;  // in full: "https://www.googleapis.com/auth/gmail.readonly"

  bool has(std::string_view scope) const;
};

// Whatever issues access tokens. Nothing: unknown, expired or revoked, which the API does not tell apart.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  virtual std::optional<Access> access(const std::string& token, std::int64_t now_ms) const = 0;
};

// Tokens that were given on the command line or by a test.
class Tokens : public TokenSource {
 public:
  // "TOKEN[@ADDRESS][:scope,scope][;expires_ms=N]": without an address that of the first mailbox, without scopes all.
  // A scope may be short: "gmail.send". False: that is no token.
  bool add(const std::string& specification, const std::string& first_address);
  std::optional<Access> access(const std::string& token, std::int64_t now_ms) const override;
  bool revoke(const std::string& token);  // false: there is no such token
  void expire_all(std::int64_t now_ms);
  void restore_all();
  std::vector<std::string> addresses() const;

 private:
  struct Token {
    Access access;
    std::int64_t expires_ms = 0;  // 0: never
    std::int64_t expired_ms = 0;  // as given, for restore_all
    bool revoked = false;
  };
  std::map<std::string, Token> tokens_;
};

std::string full_scope(const std::string& scope);

}  // namespace krux::test::gmail
