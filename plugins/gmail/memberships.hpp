// Which messages have which label, as lists of ids by label tell it: a page of 500 ids costs a quarter of what one
// message does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace gmail {

/// Begun anew by clear(); not kept beyond the process.
class Memberships {
 public:
  void clear();

  /// Before the lists: the labels that will be asked for, in this order.
  void begin(std::vector<std::string> labels);
  bool begun() const { return begun_; }
  bool whole() const { return begun_ && next_ >= labels_.size(); }
  /// The label whose list is read, unless whole.
  const std::string& label() const { return labels_[next_]; }
  const std::string& page() const { return page_; }
  void add(std::string_view id);
  /// The list goes on at `page`; empty: it has ended.
  void turn(std::string page);

  /// What the history said since begin(): it is newer than the lists, or will be followed by what is.
  void changed(const std::string& id, const std::string& label, bool has);
  /// A message was deleted: lists of several pages may have skipped others.
  void deleted();
  /// The message's record was made from the message itself since begin().
  void fetched(const std::string& id);
  /// Gmail has no list of label().
  void skip();

  /// Once whole: makes a record's labels (sorted) those of the lists, as far as they can be known from them. False
  /// where that is in doubt: a list lacks the message that may have skipped it. The labels are as they were then.
  bool correct(const std::string& id, std::vector<std::string>& labels);

  /// The list of all messages, and whether a message stood in it or was fetched since begin().
  void saw(std::string_view id);
  bool knows(const std::string& id);

 private:
  std::vector<std::string> of(const std::string& id);
  bool may_have_skipped(const std::string& label) const;

  bool begun_ = false;
  std::vector<std::string> labels_;
  std::size_t next_ = 0;
  std::string page_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> members_;  ///< hash of the message's id, number of the label
  bool sorted_ = false;
  std::unordered_map<std::string, std::vector<std::pair<std::string, bool>>> changes_;
  std::unordered_set<std::string> fetched_;
  std::unordered_map<std::string, int> covered_;  ///< the labels whose lists were read, and of how many pages
  std::unordered_set<std::string> shortened_;     ///< labels that were taken off messages
  bool any_deleted_ = false;
  int pages_ = 0;
  std::vector<std::uint64_t> seen_;
  bool seen_sorted_ = true;
};

}  // namespace gmail
