// The `query` of slack.search.
#pragma once

#include <kruxos/adapter.hpp>

#include <string_view>

namespace slack {

/// Messages that have all its words and phrases. Throws InvalidInput for what other searches take for operators: it
/// would be looked for as a word, and find nothing.
kruxos::Condition words_condition(std::string_view query);

}  // namespace slack
