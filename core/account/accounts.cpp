#include "core/account/accounts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/util/error.hpp"

namespace krux {
namespace {

std::string names_of(const std::vector<ActiveAccountPtr>& accounts) {
  std::string text;
  for (const auto& a : accounts) {
    const auto& name = a->name.empty() ? a->ref.account_id : a->name;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", name, a->display_name);
  }
  return text;
}

Error not_served(const std::string& service, const std::string& why) {
  if (!why.empty()) return {ErrorCode::kServiceUnavailable, why, true, 60'000};
  return {ErrorCode::kServiceUnavailable,
          fmt::format("{} is connected, but the host cannot serve it. Nothing was done; the operator sees the reason "
                      "with: kruxos alerts",
                      service),
          true, 60'000};
}

}  // namespace

void AccountDirectory::on_change(std::function<void()> changed) {
  const std::lock_guard lock(mutex_);
  changed_ = std::move(changed);
}

void AccountDirectory::tell() const {
  std::function<void()> changed;
  {
    const std::lock_guard lock(mutex_);
    changed = changed_;
  }
  if (changed) changed();
}

void AccountDirectory::set_services(std::vector<ActiveService> services) {
  {
    const std::lock_guard lock(mutex_);
    services_ = std::move(services);
  }
  tell();
}

std::vector<ActiveService> AccountDirectory::services() const {
  const std::lock_guard lock(mutex_);
  return services_;
}

std::optional<ActiveService> AccountDirectory::service(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto at =
      std::find_if(services_.begin(), services_.end(), [&](auto& s) { return s.definition->service == name; });
  if (at == services_.end()) return std::nullopt;
  return *at;
}

void AccountDirectory::publish(ActiveAccountPtr account) {
  {
    const std::lock_guard lock(mutex_);
    const auto same = [&](const ActiveAccountPtr& a) {
      return a->ref.service == account->ref.service && a->ref.account_id == account->ref.account_id;
    };
    std::erase_if(accounts_, same);
    unserved_.erase(account->ref.service);
    accounts_.push_back(std::move(account));
  }
  tell();
}

void AccountDirectory::withdraw(const std::string& service, const std::string& account_id) {
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(accounts_, [&](auto& a) { return a->ref.service == service && a->ref.account_id == account_id; });
    leaving_.erase({service, account_id});
  }
  tell();
}

void AccountDirectory::set_unserved(const std::string& service, const std::string& why) {
  const std::lock_guard lock(mutex_);
  unserved_[service] = why;
}

void AccountDirectory::clear_unserved(const std::string& service) {
  const std::lock_guard lock(mutex_);
  unserved_.erase(service);
}

void AccountDirectory::begin_leaving(const std::string& service, const std::string& account_id) {
  const std::lock_guard lock(mutex_);
  leaving_.insert({service, account_id});
}

void AccountDirectory::end_leaving(const std::string& service, const std::string& account_id) {
  const std::lock_guard lock(mutex_);
  leaving_.erase({service, account_id});
}

bool AccountDirectory::is_leaving(const std::string& service, const std::string& account_id) const {
  const std::lock_guard lock(mutex_);
  return leaving_.contains({service, account_id});
}

std::vector<ActiveAccountPtr> AccountDirectory::accounts() const {
  const std::lock_guard lock(mutex_);
  return accounts_;
}

ActiveAccountPtr AccountDirectory::find(const AccountRef& ref) const {
  const std::lock_guard lock(mutex_);
  const auto at = std::find_if(accounts_.begin(), accounts_.end(), [&](auto& a) { return a->ref == ref; });
  return at == accounts_.end() ? nullptr : *at;
}

void AccountDirectory::must_be_served(const std::string& service) const {
  const std::lock_guard lock(mutex_);
  if (const auto at = unserved_.find(service); at != unserved_.end()) throw not_served(service, at->second);
}

ActiveAccountPtr AccountDirectory::choose(const std::string& service, const std::string& account) const {
  std::vector<ActiveAccountPtr> candidates;
  std::optional<std::string> unserved;
  bool leaving = false;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& a : accounts_) {
      if (a->ref.service != service) continue;
      const bool leaves = leaving_.contains({service, a->ref.account_id});
      leaving = leaving || leaves;
      if (!leaves) candidates.push_back(a);
    }
    if (const auto at = unserved_.find(service); at != unserved_.end()) unserved = at->second;
  }
  if (candidates.empty() && unserved) throw not_served(service, *unserved);
  if (candidates.empty() && leaving) {
    throw not_connected(fmt::format(
        "{} is being disconnected by the operator. Nothing was done, and it takes nothing any more.", service));
  }
  if (candidates.empty()) {
    throw not_connected(
        fmt::format("{0} is not connected. The operator connects it with: kruxos connect {0}", service));
  }
  const auto by = [&](const std::string& wanted, auto field) -> ActiveAccountPtr {
    const auto fits = [&](const ActiveAccountPtr& a) { return field(*a) == wanted; };
    if (std::count_if(candidates.begin(), candidates.end(), fits) != 1) return nullptr;
    return *std::find_if(candidates.begin(), candidates.end(), fits);
  };
  const auto name = [](const ActiveAccount& a) { return a.name; };
  if (account.empty()) {
    if (candidates.size() == 1) return candidates.front();
    if (auto found = by(kDefaultAccount, name)) return found;
    throw invalid_input(
        fmt::format("{} has several accounts: name one of them in \"account\": {}.", service, names_of(candidates)));
  }
  if (auto found = by(account, [](const ActiveAccount& a) { return a.ref.account_id; })) return found;
  if (auto found = by(account, name)) return found;
  if (auto found = by(account, [](const ActiveAccount& a) { return a.display_name; })) return found;
  throw not_connected(
      fmt::format("{} has no account \"{}\"; connected are: {}.", service, account, names_of(candidates)));
}

}  // namespace krux
