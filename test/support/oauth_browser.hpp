// A browser for tests of connecting: opens an authorization address, fills in the page of consent as a person would,
// and follows where that leads. It knows forms and redirects, no scripts; it goes to the loopback interface alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/http.hpp"

namespace krux::test {

// What the person does on the page.
struct Consent {
  std::string account;              // empty: the one that the page has chosen
  std::vector<std::string> untick;  // scopes whose box is cleared
  bool deny = false;
};

// An address in parts; an empty host where the text is no http or https address.
struct WebAddress {
  bool secure = false;
  std::string host, target;  // target: path and query, at least "/"
  std::uint16_t port = 0;
};
WebAddress read_web_address(const std::string& text);

// A page's first form.
struct WebForm {
  std::string method, action;
  std::map<std::string, std::string> fields;     // hidden fields, ticked boxes, the chosen button of a group
  std::map<std::string, std::string> unchecked;  // boxes that are not ticked
};
std::optional<WebForm> read_form(const std::string& html);

// Where the browser is at the end. `page` is empty when the address could not be opened: an https one, another host
// than this machine, a port where nobody listens. Its address can be pasted all the same.
struct Landing {
  std::string address;
  std::optional<HttpReply> page;
};

// Throws std::runtime_error when the page has no form, does not offer the account, or leads in circles.
Landing browse(const std::string& address, const Consent& consent = {});

}  // namespace krux::test
