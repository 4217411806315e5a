// Names to addresses, on threads of its own: a look-up cannot be interrupted, only abandoned.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/net/address.hpp"

namespace krux {

struct Resolution {
  std::vector<IpAddress> addresses;
  std::string error;  ///< why there are none
};

/// Blocking. Must not throw.
using ResolveFunction = std::function<Resolution(const std::string& host)>;

/// The system's resolver.
Resolution resolve_by_system(const std::string& host);

/// Any thread. A look-up that is under way when this goes ends by itself, without its callback.
class Resolver {
 public:
  explicit Resolver(ResolveFunction resolve);
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// `done` runs on a thread of the resolver.
  void start(std::string host, std::function<void(Resolution)> done);

 private:
  struct State;
  static void work(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;
};

}  // namespace krux
