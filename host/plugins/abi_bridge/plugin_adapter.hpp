// An adapter behind the C tables as core sees it.
#pragma once

#include <memory>

#include "core/adapter/service_adapter.hpp"
#include "host/plugins/abi_bridge/adapter_instance.hpp"

namespace krux {

/// Believes nothing that comes back: statuses, sizes, JSON, UTF-8. A result is one JSON object of at most 8 MiB, a
/// rollback point one of at most 64 KiB; anything else is a CallFailure. A failure's `effect_none` is the adapter's
/// word, taken back where a request is open on the wire; whoever ends the call judges it once more with what
/// CallContext::end() says.
std::shared_ptr<ServiceAdapter> make_plugin_adapter(std::shared_ptr<AdapterInstance> instance);

}  // namespace krux
