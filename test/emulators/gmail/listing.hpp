// What messages.list, threads.list and drafts.list share: pages of what fits, newest first.
#pragma once

#include "emulators/gmail/methods.hpp"
#include "emulators/gmail/query.hpp"

namespace krux::test::gmail {

struct Listing {
  std::size_t max = 100;
  Labels labels;  // all of them
  bool spam_and_trash = false;
  std::optional<Query> query;
  std::optional<std::pair<std::int64_t, Id>> after;  // a page begins behind this one

  bool fits(const Mailbox& mailbox, const Message& message) const;
};

MaybeFailure read_listing(const MethodContext& context, Listing& into);
// 1 to 500; 100 when it is not given.
MaybeFailure read_max_results(const Call& call, std::size_t& into);
// A token says where a page ends, so that what comes and goes between two pages moves none.
std::string make_page_token(const Message& last);
// The estimate that goes with a page.
std::size_t estimate(std::size_t shown, bool more);
MaybeFailure metadata_only(const MethodContext& context, const char* what);

}  // namespace krux::test::gmail
