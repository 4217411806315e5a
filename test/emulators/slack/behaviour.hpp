// Where Slack's own descriptions and what people report of the live service differ, or where the service may choose:
// one switch each, set with POST /_emulator/behaviour, so that a client can be tried against every one.
#pragma once

#include <string>

namespace krux::test::slack {

struct Behaviour {
  // conversations.history with `oldest` and no `latest`. Slack's documentation: the page holds the messages closest to
  // `oldest` and paging goes forward. "newest_first": paging goes backward from now, as with both bounds.
  std::string history_oldest_only = "closest_to_oldest";
  // conversations.replies. "first_page": the parent opens the first page, whatever `oldest` is, and later pages hold
  // replies only. "every_page": the parent opens every page. "newest_chunk_first": that, and the pages go from the
  // newest replies to the oldest, each ascending in itself.
  std::string replies_parent = "first_page";
  // Lists of who reacted are cut to this many in history and replies, and in reactions.get without `full`; `count`
  // stays true.
  int reaction_users_max = 50;
  // users.list without `limit` fails with limit_required above this many users.
  int users_without_limit_max = 10000;
  // The longest text, in characters.
  int text_max = 40000;
};

}  // namespace krux::test::slack
