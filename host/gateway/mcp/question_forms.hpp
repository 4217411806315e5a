// Questions of reads as the Model Context Protocol puts them to clients, and what clients answer.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/capability/questions.hpp"
#include "core/util/json_out.hpp"

namespace krux::mcp {

enum class Model { kStateless, kWithSessions };

/// "method" and "params" of the request that asks it. `asked_by`: the tool's name, which people and models are told.
void put_request(JsonWriter& out, const Question& question, std::string_view asked_by, Model model);

/// What the client has answered (one JSON value), as the adapter is given it. It is somebody's: only what fits the
/// question is taken over. Throws krux::Error InvalidInput with a sentence that names the question.
std::string answer_json(const Question& question, std::string_view result_json);

/// The sentence that answers are refused with which have more than kLargestAnswers together.
std::string too_much_answered();
/// The answers of `by_name` to all of the questions, as krux_call.answers_json; empty: some are missing. Throws as the
/// above.
std::string answers_json(const Questions& questions, const std::map<std::string, std::string>& by_name);

}  // namespace krux::mcp
