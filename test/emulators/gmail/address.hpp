// Recipients as they stand in To, Cc and Bcc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace krux::test::gmail {

struct Address {
  std::string name, mail;
};

// False: something in it is no address. Groups, comments and quoted names are understood.
bool parse_addresses(std::string_view header, std::vector<Address>& into);

}  // namespace krux::test::gmail
