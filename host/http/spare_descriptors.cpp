#include "host/http/spare_descriptors.hpp"

#include <fcntl.h>

namespace krux {

bool SpareDescriptors::give_one() {
  if (kept_.empty()) return false;
  kept_.pop_back();
  return true;
}

bool SpareDescriptors::refill() {
  while (kept_.size() < count_) {
    const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    kept_.push_back(std::make_unique<Descriptor>(fd));
  }
  return true;
}

}  // namespace krux
