// email.search: Gmail's operators as conditions on the replica.
#pragma once

#include <kruxos/adapter.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "json.hpp"
#include "mail/query.hpp"
#include "model.hpp"

namespace gmail {

/// Why the caller's arguments are not accepted.
kruxos::ProxyError invalid(const std::string& message);

/// The replica's labels. Borrows nothing.
class LabelNames {
 public:
  explicit LabelNames(const kruxos::Reader& reader);

  /// The label's name, or the id itself where the replica has no such label.
  const std::string& name(const std::string& id) const;
  /// The ids that a name stands for (any case; "-" for blanks and "/"), or that id. Throws invalid() where there is
  /// none.
  std::vector<std::string> ids(std::string_view name_or_id) const;

 private:
  std::map<std::string, std::string, std::less<>> names_;            ///< by id
  std::multimap<std::string, std::string, std::less<>> ids_by_key_;  ///< by label_key()
};

/// `own_address`: the account's, for from:me.
kruxos::Condition condition_of(const Term& term, const LabelNames& labels, std::string_view own_address);

/// The query for email.search's parameters; limit and offset included.
kruxos::Query search_query(const Json& params, const LabelNames& labels, std::string_view own_address,
                           std::int64_t now_ms);

}  // namespace gmail
