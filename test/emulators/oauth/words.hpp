// Small things that OAuth is made of: addresses, lists of scopes, S256, tokens, HTML.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "emulators/oauth/model.hpp"

namespace krux::test::oauth {

std::string field(const Fields& fields, const std::string& name);  // empty: there is none

struct Address {
  std::string scheme, host, port, path;  // port empty: none was said
};
// Nothing: this is no absolute address, or it has a fragment.
std::optional<Address> parse_address(const std::string& text);
bool is_loopback(const Address& address);  // by http, to 127.0.0.1, [::1] or localhost

// "a b,c": spaces and commas part.
Scopes split_scopes(std::string_view text);
std::string join_scopes(const Scopes& scopes, char between);
bool contains(const Scopes& scopes, std::string_view scope);
void add_scopes(Scopes& to, const Scopes& more);

// BASE64URL(SHA256(verifier)), RFC 7636.
std::string s256(std::string_view verifier);
// 43 to 128 unreserved characters.
bool is_verifier(std::string_view text);

// Texts that nobody guesses and that come again in the same order in every run.
class Mint {
 public:
  std::string text(std::string_view prefix);

 private:
  std::uint64_t next_ = 1;
};

// address with "a=1&b=2" added to its query.
std::string with_query(std::string address, const std::vector<std::pair<std::string, std::string>>& fields);
std::string percent_encode(std::string_view text);

}  // namespace krux::test::oauth
