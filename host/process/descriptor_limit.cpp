#include "host/process/descriptor_limit.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <limits>

namespace krux {

void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::size_t descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<std::size_t>::max();
  return limit.rlim_cur;
}

std::size_t agent_connections(std::size_t wanted, std::size_t descriptors) {
  return std::max<std::size_t>(1, std::min(wanted, descriptors / 2));
}

}  // namespace krux
