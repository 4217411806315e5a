// What conditions may ask of the world besides the call: yes, no, or not known. docs/policies.md has the list.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/definition/definition.hpp"
#include "core/util/json.hpp"

namespace krux {

enum class Truth { kNo, kYes, kNotKnown };
const char* to_string(Truth truth);  ///< "yes", "no", "not known"

/// Whose call it is, and of which account; empty where there is no such call.
struct FactContext {
  std::string_view agent_id{}, service{}, account_id{};
  std::int64_t content_ms = 0;   ///< since when the content is what it is; 0: now
  std::int64_t accepted_ms = 0;  ///< when the write was accepted, which is a call of its own; 0: it was not yet
};

struct FactQuestion {
  std::string_view agent;  ///< its name
  const CapabilityDefinition& capability;
  const JsonValue& params;  ///< resolved
  std::int64_t wall_ms = 0;
  FactContext about{};

  std::int64_t content_ms() const { return about.content_ms > 0 ? about.content_ms : wall_ms; }
};

struct RuleCondition;

struct FactAnswer {
  Truth truth = Truth::kNotKnown;
  std::string because;  ///< for the operator: what has shown it, a sentence; may be empty
};

/// Whoever knows facts. Any thread; asked while a write is committed, so that it answers at once or says that it does
/// not know. Outlives the rules that name its facts.
class FactSource {
 public:
  virtual ~FactSource() = default;
  /// Those that rules may name: small letters, digits and "_".
  virtual std::vector<std::string> names() const = 0;
  virtual FactAnswer ask(std::string_view fact, const FactQuestion& question) const = 0;
  /// Whether the agent has called what a condition of the kinds kCalled and kNotCalled names, as often and as lately.
  virtual FactAnswer has_called(const RuleCondition& asked, const FactQuestion& question) const;
};

/// One of the host's own facts.
struct KnownFact {
  const char* name;
  bool of_recipients;  ///< asked of writes that say whom they reach alone
  bool of_reads;       ///< of what the agent has read
  bool of_content;     ///< of what the write says; the others are of whom it reaches, or of its agent
  const char* words;   ///< "a recipient was never written to"
};
const std::vector<KnownFact>& known_facts();
/// nullptr: it is none of the host's.
const KnownFact* known_fact(std::string_view name);

/// Knows the names of the host's facts, and nothing else: for whoever reads rules without a running host.
const FactSource& unanswered_facts();

}  // namespace krux
