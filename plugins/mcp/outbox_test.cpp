// What waits for being written.
#include "outbox.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

namespace KRUXOS_TEST_FILE {

using mcp::Asked;
using mcp::AskedPtr;
using mcp::Outbox;

namespace {

/// Takes so many bytes in all.
struct Reader {
  std::size_t room = 0;
  std::string got{};
  void take_from(Outbox& outbox, std::size_t more) {
    room += more;
    outbox.flush([this](std::string_view bytes) {
      const auto some = bytes.substr(0, room);
      got += some;
      room -= some.size();
      return some.size();
    });
  }
};

AskedPtr asked() {
  return std::make_shared<Asked>();
}

}  // namespace

TEST_CASE("messages are written one behind the other, in the pieces that are taken") {
  Outbox outbox;
  Reader reader;
  const auto first = asked(), second = asked();
  outbox.add("first", first);
  outbox.add("second", second);
  reader.take_from(outbox, 4);
  CHECK_FALSE(first->written);
  reader.take_from(outbox, 1);
  CHECK(first->written);  // a whole text, though its line has not ended
  reader.take_from(outbox, 100);
  CHECK(second->written);
  CHECK(reader.got == "first\nsecond\n");
  CHECK(outbox.empty());
}

TEST_CASE("what is taken back is not written, and what was begun is ended where it stands") {
  Outbox outbox;
  Reader reader;
  const auto first = asked(), second = asked(), third = asked();
  outbox.add("{first}", first);
  outbox.add("{second}", second);
  outbox.add("{third}", third);
  reader.take_from(outbox, 3);
  outbox.take_back(*second);
  outbox.take_back(*first);
  outbox.take_back(*first);
  reader.take_from(outbox, 100);
  CHECK(reader.got == "{fi\n{third}\n");
  CHECK_FALSE(first->written);
  CHECK_FALSE(second->written);
  CHECK(third->written);
  outbox.take_back(*third);
  CHECK(outbox.empty());
}

TEST_CASE("what nobody waits for is counted while it waits") {
  Outbox outbox;
  Reader reader;
  outbox.add("note");
  outbox.add("asked", asked());
  outbox.add("note");
  CHECK(outbox.unasked_bytes() == 10);
  reader.take_from(outbox, 5);
  CHECK(outbox.unasked_bytes() == 5);
  outbox.clear();
  CHECK(outbox.unasked_bytes() == 0);
  CHECK(outbox.empty());
}

}  // namespace KRUXOS_TEST_FILE
