// One shared library for any upstream server: what it is an adapter of, the file beside it says.
#include <dlfcn.h>

#include <array>
#include <cstring>

#include "adapter.hpp"
#include "agreed_file.hpp"
#include "http_link.hpp"
#include "options.hpp"

namespace mcp {
namespace {

/// Room for what the file says; the host reads it after the constructor below has run.
std::array<char, 64> service_name{}, version_text{};
std::shared_ptr<const Wrapped> agreed;
std::string problem;

void keep(std::array<char, 64>& room, const std::string& text) {
  std::strncpy(room.data(), text.c_str(), room.size() - 1);
}

struct AtLoad {
  AtLoad() {
    try {
      Dl_info own{};
      if (dladdr(&service_name, &own) == 0 || !own.dli_fname)
        throw std::runtime_error("Where this library lies is not known.");
      agreed = read_agreed_file(own.dli_fname);
      keep(service_name, agreed->service);
      keep(version_text, agreed->version);
    } catch (const std::exception& error) {
      problem = error.what();
      keep(service_name, "mcp");
      keep(version_text, "0.0.0");
    }
  }
} at_load;

std::unique_ptr<Link> link_for(const kruxos::Host& host, const kruxos::Account& account) {
  if (agreed->is_program()) return std::make_unique<StdioLink>(program_of(*agreed, account.config_json));
  return std::make_unique<HttpLink>(host.http(), address_of(agreed->url).path);
}

class PluginAdapter final : public ToolsAdapter {
 public:
  PluginAdapter(kruxos::Host host, const kruxos::Account& account)
      : ToolsAdapter(host, agreed, link_for(host, account), tool_errors_of(account.config_json)) {}

  static kruxos::Description describe() {
    if (!agreed) throw std::runtime_error(problem);
    kruxos::Description description;
    description.config_schema_json = config_schema_of(*agreed);
    description.acts_by_http = !agreed->is_program();
    return description;
  }
};

}  // namespace
}  // namespace mcp

extern "C" {
KRUX_EXPORT extern const krux_plugin_entry KRUX_ENTRY;
const krux_plugin_entry KRUX_ENTRY{KRUX_MAGIC,
                                   sizeof(krux_plugin_entry),
                                   KRUX_ABI_MINOR,
                                   0,
                                   mcp::service_name.data(),
                                   mcp::service_name.data(),
                                   mcp::version_text.data(),
                                   &kruxos::detail::describe<mcp::PluginAdapter>,
                                   &kruxos::detail::create<mcp::PluginAdapter>};
}
