#include "events.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using Texts = std::vector<std::string>;

TEST_CASE("events are those of the stream, whatever ends its lines and wherever it is cut") {
  const std::string end = GENERATE("\n", "\r", "\r\n");
  std::string stream =
      "\xEF\xBB\xBF"
      "data: one" +
      end + end + ": hello" + end + "event: message" + end + "data:{\"a\":" + end + "data: 2}" + end + "id: 7" + end +
      end + end + "data" + end + end + "data: cut" + end;
  const Texts all{"one", "{\"a\":\n2}", ""};
  CHECK(mcp::Events().add(stream) == all);
  for (std::size_t each = 1; each < 5; ++each) {
    mcp::Events events;
    Texts found;
    for (std::size_t at = 0; at < stream.size(); at += each) {
      for (auto& one : events.add(std::string_view(stream).substr(at, each))) found.push_back(std::move(one));
    }
    CHECK(found == all);
  }
}

}  // namespace KRUXOS_TEST_FILE
