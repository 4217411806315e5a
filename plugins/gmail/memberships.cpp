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
  if (!page_.empty()) return;
  covered_.insert(labels_[next_]);
  ++next_;
}

void Memberships::skip() {
  std::erase_if(members_, [&](const auto& member) { return member.second == next_; });
  page_.clear();
  ++next_;
}

void Memberships::changed(const std::string& id, const std::string& label, bool has) {
  if (begun_) changes_[id].emplace_back(label, has);
}

void Memberships::fetched(const std::string& id) {
  if (begun_) fetched_.insert(id);
}

void Memberships::correct(const std::string& id, std::vector<std::string>& labels) {
  if (fetched_.contains(id)) return;
  std::erase_if(labels, [&](const std::string& label) { return covered_.contains(label); });
  for (auto& label : of(id)) labels.push_back(std::move(label));
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
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
