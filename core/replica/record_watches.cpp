#include "core/replica/record_watches.hpp"

#include <vector>

namespace krux {

std::shared_ptr<void> RecordWatches::watch(const std::string& service, const RecordAddress& record,
                                           std::function<void()> changed) {
  const std::pair key(record.collection, record.id);
  const auto one = std::make_shared<const std::function<void()>>(std::move(changed));
  {
    const std::lock_guard lock(state_->mutex);
    state_->waiting[service][key].push_back(one);
    ++state_->count;
  }
  return {nullptr, [state = state_, service, key, one](void*) {
            const std::lock_guard lock(state->mutex);
            auto& of_service = state->waiting[service];
            auto& waiting = of_service[key];
            waiting.remove(one);
            if (waiting.empty()) of_service.erase(key);
            if (of_service.empty()) state->waiting.erase(service);
            --state->count;
          }};
}

void RecordWatches::note(const std::string& service, std::string_view collection, std::string_view id,
                         Changed& changed) const {
  const std::lock_guard lock(state_->mutex);
  const auto of_service = state_->waiting.find(service);
  if (of_service == state_->waiting.end()) return;
  for (const auto which : {id, std::string_view()}) {
    std::pair key{std::string(collection), std::string(which)};
    if (of_service->second.count(key) > 0) changed.insert(std::move(key));
  }
}

void RecordWatches::tell(const std::string& service, const Changed& changed) const {
  Waiting all;
  {
    const std::lock_guard lock(state_->mutex);
    const auto of_service = state_->waiting.find(service);
    if (of_service == state_->waiting.end()) return;
    for (const auto& key : changed) {
      const auto found = of_service->second.find(key);
      if (found != of_service->second.end()) all.insert(all.end(), found->second.begin(), found->second.end());
    }
  }
  for (const auto& one : all) (*one)();
}

}  // namespace krux
