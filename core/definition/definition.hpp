// One service's definition: what its adapter can do and how the host handles it. Loaded from
// definitions/<service>.yaml, checked whole before use, immutable afterwards.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/definition/access.hpp"
#include "core/definition/oauth_definition.hpp"
#include "core/definition/prompt_definition.hpp"

namespace krux {

class JsonSchema;

enum class Tier { kAutonomous, kNotify, kApprovalRequired, kBlocked };
enum class CapabilityKind { kRead, kWrite, kCancel, kDecide };  ///< kDecide: the host's own, which no service is asked
/// kAny: of the host's own capabilities alone.
enum class InputType { kString, kInteger, kNumber, kBoolean, kArray, kObject, kDateTime, kAny };
enum class WhenAbsent { kAsk, kResend };
/// Than clients wait for an answer: it may, or none would wait so long.
enum class TakesLong { kNo, kMay, kAsTask };
enum class Confidentiality { kPrivate, kPublic };  ///< who may read it at the service: some, or everybody

struct InputDefinition {
  std::string name;
  InputType type = InputType::kString;
  std::string description;
  bool required = false;
  std::optional<std::string> default_json;            ///< one JSON value of the input's type
  std::vector<std::string> aliases;                   ///< other names that agents may use
  std::optional<std::int64_t> minimum, maximum;       ///< Integer
  std::optional<std::size_t> min_length, max_length;  ///< String: Unicode code points; Array: items
  std::vector<std::string> one_of;                    ///< String: the allowed values; empty: any
  bool uploads = false;                               ///< Array, of writes: its entries name uploads
  std::vector<std::string> instead_of{};  ///< other inputs whose place it takes: an edit that names it drops them
  bool nullable = false;                  ///< null is a value of it, which clears what is there; elsewhere: not given
  std::vector<InputDefinition> items;     ///< Array: what each entry is, one without a name; empty: anything
  std::optional<ReplicaValues> values_from{};  ///< String: what a client may offer its user; others fit too
  std::string header{};                        ///< over HTTP clients repeat it there: Mcp-Param-<header>
};

struct OutputDefinition {
  std::string name, description;
  InputType type = InputType::kString;
  std::vector<OutputDefinition> fields{};  ///< Object: its members, as far as they are promised; empty: any
  std::vector<OutputDefinition> items{};   ///< Array: what each entry is, one without a name; empty: anything
  /// A model gets it as that, and not among the values: a String as a text; an Object {data, mime_type} as an image or
  /// sound, {uri, mime_type, text or data} as a resource. `data` is Base64. Of reads, at the first level.
  std::optional<ContentKind> content{};
};

struct ContentOutput {
  std::string name;
  ContentKind kind = ContentKind::kText;
};

struct RecoveryAction {
  std::string action, description, capability;  ///< capability may be empty
};

/// `limit` writes of `operations` by one agent within `window_ms`, counted apart for every value of input `key` when it
/// is given.
struct Limit {
  std::vector<std::string> operations;
  std::int64_t limit = 0, window_ms = 0;
  std::string key;
};

/// A write whose resolved `input` holds one of these values is handled as a write of `capability`: its tier, delay and
/// limits count.
struct CountsAs {
  std::string input;  ///< String, or Array
  std::vector<std::string> holds;
  std::string capability;
};

/// {name} in a write's summary stands for a record of the replica: its words, with its id behind them.
struct SummaryRecord {
  std::string name;            ///< may be an input's: then what an agent gave in words stays as he gave it
  std::string collection, id;  ///< the id filled with resolved inputs: "{channel}/{ts}"; "{ids}" may be a list: each
  std::string words;           ///< filled with members of the record: "\"{subject}\" from {from}"
  std::string members{};       ///< the number in its JSON that says how many members it has; may be empty
};

/// A record of the replica that a write sends along.
struct PassedOn {
  std::string collection, id;             ///< the id filled with resolved inputs
  std::vector<std::string> texts, blobs;  ///< members of its JSON that go along; blobs that hold the rest, as JSON
};

struct CapabilityDefinition {
  std::string name;  ///< "notes.add"
  CapabilityKind kind = CapabilityKind::kRead;
  Tier tier = Tier::kBlocked;
  std::string purpose, when_to_use;
  std::vector<std::string> tags;
  std::vector<InputDefinition> inputs;
  std::vector<OutputDefinition> outputs;
  std::vector<std::string> required_scopes;
  /// What its arguments together must fit besides; null: nothing.
  std::shared_ptr<const JsonSchema> schema;
  bool core = true;  ///< among the tools that an agent is shown unless it asks for more
  std::vector<std::vector<std::string>> one_input_of;  ///< of each group at least one must be given
  std::string summary;  ///< writes: one line for people, "#{channel}: {text}"; empty: all inputs
  std::vector<SummaryRecord> summary_records;
  std::optional<PassedOn> passes_on;
  /// What a write or a read is about, filled with resolved inputs: "{channel}/{ts}". A read also shows the agent's own
  /// writes about it, or about a part of it, that the replica cannot have yet. Empty: about everything.
  std::string target;
  // Reads
  bool fetches = false;                                         ///< may call the service (and is audited)
  Confidentiality confidentiality = Confidentiality::kPrivate;  ///< of what it reads
  TakesLong takes_long = TakesLong::kNo;                        ///< it fetches otherwise
  std::uint32_t asks = 0;  ///< what it may ask of whoever waits: KRUX_ASK_FORM ...; see core/definition/asks.hpp
  // Writes
  std::optional<std::int64_t> delay_ms;  ///< nothing: the host's default; 0 with `immediate`
  bool immediate = false;
  std::int64_t settle_ms = 60'000;
  WhenAbsent when_absent = WhenAbsent::kAsk;
  bool undoable = false;
  bool destructive = true;  ///< may take away or overwrite what was there, instead of only adding to it
  /// One agent's writes of which this is the same, filled with resolved parameters, go out one after the other. Empty:
  /// in no order.
  std::string order;
  /// Resolved parameters that say whom the write reaches; shown whole wherever the write is shown.
  std::vector<std::string> recipients;
  bool recipients_are_texts = false;  ///< account numbers, names; no mail addresses
  bool cleanup = false;  ///< an attempt may make something before its effect, which the adapter can take away
  bool harmless_to_repeat = false;  ///< set-type operations, whose repetition changes nothing
  std::vector<CountsAs> counts_as;  ///< the first that fits
};

/// A record of the replica. Without an id any of its collection.
struct RecordAddress {
  std::string collection, id;
};

/// A read that is found under an address, {input} in it standing for one of its inputs.
struct ResourceDefinition {
  std::string uri, name, description, mime_type;  ///< mime_type may be empty
  std::string capability;                         ///< has an output that is content of kind resource
  /// With whose record it changes, {input} in the id as in the address; nothing: nobody can tell.
  std::optional<RecordAddress> changes_with{};
};

/// A quota rule of the service's API; see core/net/quota.hpp.
struct QuotaRule {
  std::string match;  ///< glob over the path relative to api_base_url
  double per_minute = 0;
  double burst = 0;  ///< 0: derived
  double cost = 1;
  std::string key;     ///< form or query parameter with a bucket of its own for each value; empty: none
  std::string bucket;  ///< rules of the same name share one allowance (units of different cost); empty: its own
};

/// Where the replica shows what was written, to whom, and by whom; of a searchable collection, with people one with
/// tags and named texts.
inline constexpr const char* kProvenSender = "pass";

struct CorrespondenceDefinition {
  std::string collection;  ///< empty: the service has none
  std::string sent_tag;    ///< of what the account has sent; what lacks it, others have
  std::vector<std::string> without_tags;
  std::string words;                 ///< what a record is called, by its members; empty: by its id
  std::string conversation, sender;  ///< where its JSON has them, "from.address"; may be empty
  /// Where its JSON says kProvenSender if the service has proven who has sent it, and something else if not; may be
  /// empty.
  std::string proof;
  std::vector<std::string> bodies;             ///< blobs that hold more of a record's texts, as JSON
  std::vector<std::string> to;                 ///< the named texts that hold recipients
  std::string from;                            ///< the one that holds who sent it
  std::string before_address, behind_address;  ///< between which an address in small letters stands there

  bool has_people() const { return !to.empty(); }
};

struct ServiceDefinition {
  std::int64_t schema_version = 1;
  std::string service, prefix, display_name, description;
  std::string version;                                   ///< frozen into each write
  std::string adapter_min_version, adapter_max_version;  ///< inclusive, exclusive; max may be empty
  std::string api_base_url;                              ///< the configuration may override it
  std::vector<std::string> hosts;                        ///< that the adapter may speak to, besides api_base_url's
  std::string hosts_from;  ///< and those that its configuration lists under this name; empty: no others
  std::int64_t sync_interval_ms = 60'000;
  std::int64_t rollback_retention_ms = 24 * 3'600'000;
  std::int64_t call_timeout_ms = 60'000;  ///< deadline of one write or look; a sync step has five times as much
  AuthDefinition auth;
  AccountTerms accounts;
  std::vector<SafePost> safe_posts;
  std::vector<QuotaRule> quota;
  std::vector<Limit> limits;
  bool escalate_on_exceed = true;           ///< on_exceed: approval_required (true) or reject
  std::vector<std::string> connect_scopes;  ///< what an operator must grant
  std::string connect_token_pattern;        ///< TokenPattern a pasted token must fit; empty: no pasting
  std::string connect_help;                 ///< shown by `kruxos connect <service>` without a token
  OAuthDefinition oauth;
  std::vector<CapabilityDefinition> capabilities;
  std::vector<ResourceDefinition> resources;
  std::vector<PromptDefinition> prompts;
  CorrespondenceDefinition correspondence;
  std::map<std::string, std::vector<RecoveryAction>, std::less<>> recovery;  ///< by error type

  const CapabilityDefinition* find(const std::string& capability) const;
  /// It is connected by the host's configuration alone, as one account.
  bool needs_no_token() const { return auth.way == AuthDefinition::Way::kNone; }
};

/// Those of its outputs that a model is handed as content.
std::vector<ContentOutput> content_outputs(const CapabilityDefinition& capability);

/// "id, or else channel and time" of groups that are alike but for their last, [[id, channel], [id, time]]: the input
/// that is enough, and those that are needed together without it. Else "at least one of a, b" of each.
std::string one_input_in_words(const std::vector<std::vector<std::string>>& groups);

/// "10 in 1 h", "30 in 10 min".
std::string limit_in_words(std::int64_t limit, std::int64_t window_ms);
/// "10 of notes.add + notes.mark in 1 h per title".
std::string in_words(const Limit& limit);

// As definitions and results spell them.
const char* to_string(Tier tier);
const char* to_string(InputType type);
const char* to_string(CapabilityKind kind);
const char* to_string(WhenAbsent when_absent);
const char* to_string(ContentKind kind);
const char* to_string(Confidentiality confidentiality);

}  // namespace krux
