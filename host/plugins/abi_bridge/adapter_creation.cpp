#include "host/plugins/abi_bridge/adapter_creation.hpp"

#include "host/plugins/abi_bridge/lent_call.hpp"

namespace krux {

void AdapterCreation::run() {
  const LentCall lent(call);
  const krux_account account{sizeof(krux_account), generation,       to_abi(account_id), to_abi(scopes),
                             to_abi(config),       to_abi(base_url), to_abi(settings)};
  auto* made = entry->create(host->table(), lent.table(), &account);
  if (!made) {
    failure = lent.failure(KRUX_INTERNAL);
    return;
  }
  try {
    instance = std::make_shared<AdapterInstance>(made, host, std::move(collections));
  } catch (const std::exception& e) {
    failure.message = e.what();
    unfit = true;
  }
}

}  // namespace krux
