// What is wrong with a command line, in plain words.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace krux::cli {

/// One sentence or two, with what was probably meant. `app` has just refused `words` with `error`.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& words);

/// A whole number from `least` to `most`, which the sentence about another value names.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);

/// A time with its unit, "30min", "2h" or "7d", as minutes from 1 to `most`.
CLI::Validator time_in_minutes(std::int64_t most);

/// Refuses values that are empty, but of the options in `may_be_empty`.
void refuse_empty_values(CLI::App& app, const std::vector<std::string>& may_be_empty);

}  // namespace krux::cli
