#include "memberships.hpp"

#include <algorithm>
#include <functional>

namespace gmail {
namespace {

std::uint64_t key_of(std::string_view id) {
  return std::hash<std::string_view>()(id);
}

}  // namespace

void Memberships::clear() {
  *this = {};
}

void Memberships::begin(std::vector<std::string> labels) {
  clear();
  begun_ = true;
  labels_ = std::move(labels);
}

void Memberships::add(std::string_view id) {
  members_.emplace_back(key_of(id), static_cast<std::uint32_t>(next_));
  sorted_ = false;
}

void Memberships::turn(std::string page) {
  page_ = std::move(page);
  ++pages_;
  if (!page_.empty()) return;
  covered_[labels_[next_]] = pages_;
  pages_ = 0;
  ++next_;
}

void Memberships::skip() {
  std::erase_if(members_, [&](const auto& member) { return member.second == next_; });
  page_.clear();
  pages_ = 0;
  ++next_;
}

void Memberships::changed(const std::string& id, const std::string& label, bool has) {
  if (!begun_) return;
  changes_[id].emplace_back(label, has);
  if (!has) shortened_.insert(label);
}

void Memberships::fetched(const std::string& id) {
  if (begun_) fetched_.insert(id);
}

void Memberships::deleted() {
  any_deleted_ = begun_;
}

bool Memberships::may_have_skipped(const std::string& label) const {
  const auto at = covered_.find(label);
  return at != covered_.end() && at->second > 1 && (any_deleted_ || shortened_.contains(label));
}

bool Memberships::correct(const std::string& id, std::vector<std::string>& labels) {
  if (fetched_.contains(id)) return true;
  auto now = of(id);
  for (const auto& label : labels) {
    const bool listed = std::find(now.begin(), now.end(), label) != now.end();
    if (!listed && may_have_skipped(label)) return false;
    if (!listed && !covered_.contains(label)) now.push_back(label);
  }
  std::sort(now.begin(), now.end());
  now.erase(std::unique(now.begin(), now.end()), now.end());
  labels = std::move(now);
  return true;
}

void Memberships::saw(std::string_view id) {
  seen_.push_back(key_of(id));
  seen_sorted_ = false;
}

bool Memberships::knows(const std::string& id) {
  if (!seen_sorted_) std::sort(seen_.begin(), seen_.end());
  seen_sorted_ = true;
  return fetched_.contains(id) || std::binary_search(seen_.begin(), seen_.end(), key_of(id));
}

/// By the lists, and by what was said since.
std::vector<std::string> Memberships::of(const std::string& id) {
  if (!sorted_) std::sort(members_.begin(), members_.end());
  sorted_ = true;
  std::vector<std::string> out;
  const auto key = key_of(id);
  for (auto at = std::lower_bound(members_.begin(), members_.end(), std::pair(key, std::uint32_t{0}));
       at != members_.end() && at->first == key; ++at) {
    out.push_back(labels_[at->second]);
  }
  if (const auto known = changes_.find(id); known != changes_.end()) {
    for (const auto& [label, has] : known->second) {
      std::erase(out, label);
      if (has && covered_.contains(label)) out.push_back(label);
    }
  }
  return out;
}

}  // namespace gmail
