// Its static constructor takes more memory than it may, in a way that no limit of the kernel counts.
#include <unistd.h>

#include "entry.hpp"
#include "hoards.hpp"
namespace {
[[gnu::constructor]] void hoard() {
  if (attacks::memory_to_be_hidden(600) > 0) sleep(20);
}
}  // namespace
BROKEN_PLUGIN(KRUX_MAGIC, sizeof(krux_plugin_entry), "broken", "broken", "1.0.0", &broken::describe);
