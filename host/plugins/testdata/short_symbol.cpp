// Its size claims more than the symbol behind it has.
#include <kruxos/abi.h>
extern "C" {
KRUX_EXPORT extern const unsigned krux_plugin_v1[4];
const unsigned krux_plugin_v1[4] = {KRUX_MAGIC, sizeof(krux_plugin_entry), KRUX_ABI_MINOR, 0};
}
