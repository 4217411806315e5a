#include "bench/offender.hpp"

#include <time.h>

#include "bench/rpc_client.hpp"

namespace krux::bench {

Offender::Offender(std::uint16_t port, const std::string& key, const Offence& offence, std::size_t round) {
  for (int i = 0; i < offence.connections; ++i) {
    threads_.emplace_back([this, port, key, request = offence.requests[round % offence.requests.size()]] {
      RpcClient client(port, key);
      while (!stopping_) {
        client.ask(request);
        ++answered_;
      }
      timespec used{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
      cpu_us_ += used.tv_sec * 1'000'000 + used.tv_nsec / 1000;
    });
  }
}

Offender::~Offender() {
  stop();
}

void Offender::stop() {
  stopping_ = true;
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace krux::bench
