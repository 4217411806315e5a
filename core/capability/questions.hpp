// What a read asks before it can answer, once it is found to make sense; and what fits as an answer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/definition/definition.hpp"
#include "core/util/json.hpp"

namespace krux {

struct Question {
  std::string name;
  std::uint32_t kind = 0;   ///< one of KRUX_ASK_FORM ...
  std::string message;      ///< but of roots; printable_lines(), as `system`
  std::string schema_json;  ///< of a form; see checked_form()
  std::string url;          ///< of an address
  std::string system;       ///< for a model; may be empty
  std::int64_t max_tokens = 0;
};

struct Questions {
  std::vector<Question> all;
  std::string questions_json;  ///< as the adapter gave them: parse_questions() makes `all` of it again
  std::string state;           ///< the adapter's own
  std::string account;         ///< whose read it was: the answers are for that connecting of it alone
  std::uint32_t missing = 0;   ///< what is asked, and whoever waits cannot be asked: KRUX_ASK_FORM ...

  std::uint32_t kinds() const;
};

/// As krux_call.ask was given them. Throws krux::Error InvalidInput with a sentence about the adapter.
std::vector<Question> parse_questions(std::string_view questions_json);

/// What an adapter may not ask although it makes sense: what its definition does not list, an address of a host that it
/// may not speak to. Empty: it may.
std::string why_not_asked(const std::vector<Question>& questions, const CapabilityDefinition& capability,
                          const ServiceDefinition& definition);

}  // namespace krux
