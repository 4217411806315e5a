// Labels of messages: changed, trashed, and set back to what they were.
#pragma once

#include <kruxos/adapter.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api_client.hpp"

namespace gmail {

using LabelSet = std::vector<std::string>;          ///< ids, sorted
using LabelSets = std::map<std::string, LabelSet>;  ///< by message id

/// What a write does: the same to each of its messages.
struct LabelChange {
  std::vector<std::string> messages;
  LabelSet add, remove;
  LabelSet taken;  ///< that Gmail may take away besides: out of the inbox, of the trash, of spam
  bool is_deletion = false;
};

class LabelChanges {
 public:
  /// Both must outlive it.
  LabelChanges(const kruxos::Call& call, const ApiClient& api) : call_(call), api_(api) {}

  /// Nothing where the operation is none of labels or deletion.
  static bool handles(std::string_view operation);
  static LabelChange change_of(std::string_view operation, const Json& params);

  std::string execute(std::string_view operation, const Json& params) const;
  kruxos::EffectFound find(std::string_view operation, const Json& params) const;

  std::string point(std::string_view operation, const Json& params) const;
  std::string undo(const kruxos::RollbackRequest& request, const Json& params) const;
  kruxos::EffectFound find_undone(const kruxos::RollbackRequest& request, const Json& params) const;

 private:
  /// As they are now. Throws kNotFound where a message is gone.
  LabelSets present(const std::vector<std::string>& messages) const;
  void modify(const std::vector<std::string>& messages, const LabelSet& add, const LabelSet& remove) const;

  const kruxos::Call& call_;
  const ApiClient& api_;
};

}  // namespace gmail
