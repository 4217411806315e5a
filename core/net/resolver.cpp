#include "core/net/resolver.hpp"

#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

namespace krux {
namespace {

IpAddress from_sockaddr(const sockaddr* address) {
  IpAddress out;
  if (address->sa_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, address, sizeof v6);
    std::memcpy(out.bytes.data(), &v6.sin6_addr, 16);
  } else {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof v4);
    out.bytes[10] = out.bytes[11] = 0xff;
    std::memcpy(out.bytes.data() + 12, &v4.sin_addr, 4);
  }
  return out;
}

}  // namespace

Resolution resolve_by_system(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  Resolution result;
  if (const int error = getaddrinfo(host.c_str(), nullptr, &hints, &list); error != 0) {
    result.error = gai_strerror(error);
    return result;
  }
  for (const auto* entry = list; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family != AF_INET && entry->ai_family != AF_INET6) continue;
    const auto address = from_sockaddr(entry->ai_addr);
    if (std::find(result.addresses.begin(), result.addresses.end(), address) == result.addresses.end()) {
      result.addresses.push_back(address);
    }
  }
  freeaddrinfo(list);
  return result;
}

struct Resolver::State {
  struct Job {
    std::string host;
    std::function<void(Resolution)> done;
  };
  ResolveFunction resolve;
  std::mutex mutex;
  std::deque<Job> jobs;
  int workers = 0;
  bool stopped = false;
};

Resolver::Resolver(ResolveFunction resolve) : state_(std::make_shared<State>()) {
  state_->resolve = std::move(resolve);
}

Resolver::~Resolver() {
  const std::lock_guard lock(state_->mutex);
  state_->stopped = true;
  state_->jobs.clear();
}

void Resolver::start(std::string host, std::function<void(Resolution)> done) {
  constexpr int most_workers = 4;
  const std::lock_guard lock(state_->mutex);
  state_->jobs.push_back({std::move(host), std::move(done)});
  if (state_->workers == most_workers) return;
  // Detached, and ending with the last job: nothing has to wait for a name server that does not answer.
  std::thread([state = state_] { work(state); }).detach();
  ++state_->workers;
}

void Resolver::work(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  while (!state->jobs.empty()) {
    const auto job = std::move(state->jobs.front());
    state->jobs.pop_front();
    lock.unlock();
    auto result = state->resolve(job.host);
    lock.lock();
    if (state->stopped) break;
    lock.unlock();
    job.done(std::move(result));
    lock.lock();
  }
  --state->workers;
}

}  // namespace krux
