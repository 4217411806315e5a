// What agents say to the adapters for the machine: paths, patterns, commands, addresses.
#include <kruxos/adapter/error.hpp>

#include <algorithm>

#include "filesystem/glob.hpp"
#include "fuzz/fuzz.hpp"
#include "network/address.hpp"
#include "process/words.hpp"
#include "workspace/path.hpp"

namespace {

using krux::fuzz::require;

template <class What>
void tried(What what) {
  try {
    what();
  } catch (const kruxos::ProxyError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto half = bytes.find('\n');
  const auto first = bytes.substr(0, half), second = half == std::string_view::npos ? "" : bytes.substr(half + 1);
  tried([&] {
    const auto path = workspace::parse_path(first);
    for (const auto& name : path.names) {
      require(!name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos, "a part is a name");
      require(name.find('\0') == std::string::npos, "and has no NUL");
    }
    const auto again = workspace::parse_path(path.shown());
    require(again.names == path.names, "what is shown of a path is that path");
  });
  tried([&] {
    for (const auto& word : process::words_of(first))
      require(word.size() <= first.size(), "a word is a part of what was said");
  });
  tried([&] { (void)filesystem::fits(first, second.substr(0, 255)); });
  tried([&] {
    const auto at = network::parse_address(first);
    require(!at.host.empty() && at.origin.find('@') == std::string::npos, "an address has a host and no user");
    const auto printable = [](char c) { return c > ' ' && c != '\x7f'; };
    const auto text = at.text();
    require(std::all_of(text.begin(), text.end(), printable), "nothing in it begins another line");
    tried([&] {
      const auto next = network::resolve(at, second);
      const auto way = next.rest.substr(0, next.rest.find('?'));
      require(way.find("/../") == std::string::npos, "where a redirect leads has no way up");
    });
  });
  return 0;
}
