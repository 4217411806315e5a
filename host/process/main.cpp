#include "core/util/clock.hpp"
#include "host/process/run_host.hpp"

int main(int argc, char** argv) {
  krux::SystemClock clock;
  return krux::run_host(argc, argv, clock);
}
