// How far a write goes, as the account's copy shows it: whom it reaches, and which records it is about.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/account/accounts.hpp"
#include "core/definition/definition.hpp"
#include "core/util/json.hpp"

namespace krux {

/// Addresses in small letters, each once. Only where the definition says where the copy shows whom it has written to.
struct ReachedPeople {
  std::vector<std::string> all;               ///< without the account's own address
  std::vector<std::string> outside;           ///< of a domain that is not the account's own
  std::vector<std::string> never_written_to;  ///< of the first kMostReached
  bool own_domain_known = false;
  bool written_to_known = true;  ///< of all that were looked up; else of those in never_written_to alone
  std::size_t unreadable = 0;    ///< those that cannot be read as an address are in none of these
};

/// Those that one of the definition's `summary_records` stands for.
struct ReachedRecords {
  std::string collection;
  std::size_t count = 0;
  std::size_t looked_at = 0, absent = 0;       ///< the first kMostReached; those of them that the copy does not have
  std::vector<std::string> first;              ///< in words, with their ids
  std::size_t conversations = 0, senders = 0;  ///< of those that were looked at; 0: the definition does not say where
  bool all_told = true;                        ///< each of all records has said its conversation and sender
  std::int64_t members = 0;                    ///< of the one record; 0: not known
};

struct Reach {
  ReachedPeople people;
  std::vector<ReachedRecords> records;
};

inline constexpr std::size_t kMostReached = 500, kFewInWords = 3;

/// For whoever decides: asks the copy once for each of up to kMostReached addresses and records, for half a second
/// each.
Reach reach_of(const ActiveAccount& account, const CapabilityDefinition& capability, const JsonValue& params);

/// "It names 2 addresses, 1 outside harbour.example: eve@else.example." and so on; sentences, printable.
std::vector<std::string> in_words(const Reach& reach, const ActiveAccount& account);

}  // namespace krux
