#include "host/http/connection_places.hpp"

#include <algorithm>
#include <utility>

namespace krux {

PlaceLimits places_with_keys(std::size_t all) {
  const auto part = [all](std::size_t times, std::size_t of) { return std::max<std::size_t>(1, all * times / of); };
  return {all, part(3, 4), part(7, 8), part(1, 4)};
}

PlaceLimits places_of_strangers(std::size_t all) {
  return {all, all, all, all};
}

struct ConnectionPlaces::Place::Agent {
  explicit Agent(std::string n) : name(std::move(n)) {}
  const std::string name;
  std::size_t count = 0;
  Waiting waiting;
};

std::unique_ptr<ConnectionPlaces::Place> ConnectionPlaces::enter(std::function<void()> ask_to_go) {
  const std::lock_guard lock(mutex_);
  const bool full = stranger_count_ >= limits_.strangers || stranger_count_ + agent_count_ >= limits_.all;
  if (full && !ask_first(strangers_)) {
    ++figures_.strangers.refused;
    return nullptr;
  }
  std::unique_ptr<Place> place(new Place(*this, std::move(ask_to_go)));
  count(*place, 1);
  enlist(*place, strangers_.idle);
  return place;
}

bool ConnectionPlaces::make_room() {
  const std::lock_guard lock(mutex_);
  return ask_first(strangers_);
}

PlaceFigures ConnectionPlaces::figures() const {
  const std::lock_guard lock(mutex_);
  auto all = figures_;
  all.strangers.open = stranger_count_;
  all.agents.open = agent_count_;
  return all;
}

ConnectionPlaces::Place::~Place() {
  const std::lock_guard lock(of_.mutex_);
  of_.strike(*this);
  if (leaving_) {
    ++(agent_ ? of_.figures_.agents : of_.figures_.strangers).sent_away;
  } else {
    of_.count(*this, -1);
  }
  of_.let_go_of_agent(*this);
}

bool ConnectionPlaces::Place::belongs_to(const std::string& agent) {
  const std::lock_guard lock(of_.mutex_);
  of_.begin(*this);
  if (agent_ && agent_->name == agent) return true;
  auto& found = of_.agents_[agent];
  if (!found) found = std::make_shared<Agent>(agent);
  const auto theirs = found;
  of_.count(*this, -1);
  if (!of_.make_room_for(*theirs)) {
    of_.count(*this, 1);
    ++of_.figures_.agents.refused;
    if (theirs.use_count() == 2) of_.agents_.erase(agent);
    return false;
  }
  of_.let_go_of_agent(*this);
  agent_ = theirs;
  of_.count(*this, 1);
  return true;
}

void ConnectionPlaces::Place::busy() {
  const std::lock_guard lock(of_.mutex_);
  of_.begin(*this);
}

void ConnectionPlaces::Place::waits() {
  const std::lock_guard lock(of_.mutex_);
  if (!leaving_) of_.enlist(*this, of_.waiting_like(*this).idle);
}

void ConnectionPlaces::Place::streams() {
  const std::lock_guard lock(of_.mutex_);
  if (!leaving_) of_.enlist(*this, of_.waiting_like(*this).streams);
}

bool ConnectionPlaces::Place::must_go() const {
  const std::lock_guard lock(of_.mutex_);
  return leaving_;
}

// ---- under the lock

/// Whoever is asked cannot be gone yet: it leaves under the same lock.
bool ConnectionPlaces::ask_first(Waiting& waiting) {
  if (waiting.empty()) return false;
  auto& place = *(waiting.idle.empty() ? waiting.streams : waiting.idle).front();
  strike(place);
  count(place, -1);
  place.leaving_ = true;
  place.ask_to_go_();
  return true;
}

/// An agent that has all it may have gives up one of its own; else the one that has most does.
bool ConnectionPlaces::make_room_for(Place::Agent& agent) {
  if (agent.count >= limits_.of_agent) return ask_first(agent.waiting);
  if (agent_count_ < limits_.agents) return true;
  Place::Agent* largest = nullptr;
  for (const auto& [name, other] : agents_) {
    if (!other->waiting.empty() && (!largest || other->count > largest->count)) largest = other.get();
  }
  return largest && ask_first(largest->waiting);
}

ConnectionPlaces::Waiting& ConnectionPlaces::waiting_like(const Place& place) {
  return place.agent_ ? place.agent_->waiting : strangers_;
}

void ConnectionPlaces::enlist(Place& place, std::list<Place*>& list) {
  strike(place);
  place.at_ = list.insert(list.end(), &place);
  place.in_ = &list;
}

void ConnectionPlaces::strike(Place& place) {
  if (auto* list = std::exchange(place.in_, nullptr)) list->erase(place.at_);
}

/// Has a request to be answered: one who was asked to go meanwhile stays.
void ConnectionPlaces::begin(Place& place) {
  strike(place);
  if (place.leaving_) count(place, 1);
  place.leaving_ = false;
}

void ConnectionPlaces::count(const Place& place, int by) {
  const auto step = static_cast<std::size_t>(by);  // wraps around
  (place.agent_ ? agent_count_ : stranger_count_) += step;
  if (place.agent_) place.agent_->count += step;
}

void ConnectionPlaces::let_go_of_agent(Place& place) {
  const auto agent = std::move(place.agent_);
  place.agent_ = nullptr;
  if (agent && agent.use_count() == 2) agents_.erase(agent->name);  // here and there alone
}

}  // namespace krux
