// What tools and their inputs are called by agents: names that definitions take.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace mcp {

/// Small letters, digits and '_', a letter first, at most `longest` (20 or more). A name that fits already stays.
/// Others become what reads most like them ("createIssue", "create-issue": create_issue); what loses something by that
/// (its end, its characters) has six digits of its hash behind it.
std::string plain_name(std::string_view name, std::size_t longest);

/// The same, with the digits in any case: for one of two that would be called the same. Others with each of `tries`,
/// for names can be chosen so that six digits of their hashes are the same.
std::string told_apart(std::string_view name, std::size_t longest, std::size_t tries = 0);

}  // namespace mcp
