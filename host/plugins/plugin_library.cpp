#include "host/plugins/plugin_library.hpp"

#define BOOST_DLL_USE_STD_FS
#include <dlfcn.h>
#include <fmt/format.h>

#include <boost/dll/shared_library.hpp>
#include <string>
#include <system_error>

#include "core/util/text.hpp"
#include "host/plugins/entry_check.hpp"

namespace krux {

PluginLibrary::PluginLibrary(const std::filesystem::path& file) {
  // Boost.DLL has no name for RTLD_NODELETE; its modes are the system's own numbers.
  const auto mode =
      static_cast<boost::dll::load_mode::type>(static_cast<int>(boost::dll::load_mode::rtld_now) | RTLD_NODELETE);
  try {
    boost::dll::shared_library library(file, mode);
    const std::string symbol(kEntrySymbol);
    if (!library.has(symbol)) throw PluginRefused(fmt::format("It has no symbol {}.", symbol));
    entry_ = &library.get<const krux_plugin_entry>(symbol);
  } catch (const std::system_error& e) {
    throw PluginRefused(fmt::format("It cannot be loaded: {}.", printable(e.what())));
  }
}

}  // namespace krux
