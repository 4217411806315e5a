// The members by which the host says what it has cut off an answer, and where that goes on. Adapters that end a page of
// their own say it by the same (docs/definitions.md).
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace krux {
namespace cut_members {

inline constexpr std::string_view kPageIsCut = "page_is_cut", kNextOffset = "next_offset", kMore = "more",
                                  kNextBefore = "next_before", kTextsAreCut = "texts_are_cut",
                                  kMembersLeftOut = "members_left_out";

}  // namespace cut_members

/// Such a member is there where it says something, and not else.
constexpr bool says_what_is_cut(std::string_view member) {
  using namespace cut_members;
  constexpr std::array all{kPageIsCut, kNextOffset, kMore, kNextBefore, kTextsAreCut, kMembersLeftOut};
  return std::find(all.begin(), all.end(), member) != all.end();
}

}  // namespace krux
