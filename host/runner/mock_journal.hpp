// The journal of a mock whose process may write no file: it says its lines to its log, from which they are taken here.
// test/mock_plugins/mock_adapter.cpp says them.
#pragma once

#include <filesystem>

#include "host/plugins/abi_bridge/lent_host.hpp"

namespace krux {

/// Takes what a mock says for its journal, durable when it returns, and hands everything else on to `log`. The journal
/// lies beside `library`: NAME.mock.json.journal.
AdapterLog with_mock_journal(const std::filesystem::path& library, AdapterLog log);

}  // namespace krux
