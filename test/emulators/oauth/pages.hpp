// What a person sees: plain pages without scripts, so that a scripted browser sees the same.
#pragma once

#include "emulators/common/http_types.hpp"
#include "emulators/oauth/model.hpp"

namespace krux::test::oauth {

struct ConsentPage {
  std::string provider, client, action;  // action: the path that the form is posted to
  Fields hidden;                         // the request, as it comes back with the form
  std::vector<Person> people;
  std::string chosen;  // the person who is chosen at first
  Scopes scopes;
  bool granular = false;  // each scope can be unticked
};

emulator::HttpAnswer consent_page(const ConsentPage& page);
// The request cannot go back to the client: the person is told.
emulator::HttpAnswer problem_page(const std::string& error, const std::string& sentence);
emulator::HttpAnswer redirect_to(const std::string& address);

// The name of the box of the n-th scope.
std::string box_name(std::size_t index);

}  // namespace krux::test::oauth
