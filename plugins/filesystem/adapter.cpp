#include "adapter.hpp"

#include "reading.hpp"
#include "searching.hpp"
#include "workspace/path.hpp"

namespace filesystem {

FilesystemAdapter::FilesystemAdapter(kruxos::Host, const kruxos::Account& account)
    : options_(options_of(account.config_json)), homes_(options_.root), changes_(homes_, options_) {}

kruxos::Description FilesystemAdapter::describe() {
  kruxos::Description description;
  description.config_schema_json = kConfigSchema;
  description.acts_by_http = false;
  return description;
}

std::string FilesystemAdapter::read(const kruxos::Call& call, const kruxos::Reader&, std::string_view capability,
                                    std::string_view params_json) {
  const auto home = homes_.of(call.agent());
  const auto params = kruxos::kit::parse(params_json);
  if (capability == "filesystem.read") return read_file(home, params);
  if (capability == "filesystem.list") return list(call, home, params);
  if (capability == "filesystem.stat") return stat_of(home, params);
  if (capability == "filesystem.search") return search(call, home, params);
  throw kruxos::ProxyError(kruxos::ErrorKind::kUnsupported, "There is no such capability.");
}

std::string FilesystemAdapter::resolve(const kruxos::Call&, const kruxos::Reader&, std::string_view,
                                       std::string_view params_json) {
  auto params = kruxos::kit::parse(params_json);
  if (params.HasParseError() || !params.IsObject()) return std::string(params_json);
  for (const char* name : {"path", "from", "to"}) {
    const auto given = kruxos::kit::text_of(params, name);
    if (!params.HasMember(name)) continue;
    const auto shown = workspace::parse_path(given).shown();
    params[name].SetString(shown.data(), static_cast<rapidjson::SizeType>(shown.size()), params.GetAllocator());
  }
  return kruxos::kit::json_text(params);
}

}  // namespace filesystem
