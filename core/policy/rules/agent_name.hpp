// What an agent's name may be: where agents are made, and where rules are named after one.
#pragma once

#include <string>
#include <string_view>

namespace krux {

/// Why no agent can have that name, a sentence; empty: one can. No such name is a pattern for several agents, an id, or
/// an option of a command.
std::string agent_name_problem(std::string_view name);

}  // namespace krux
