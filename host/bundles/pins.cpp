#include "host/bundles/pins.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/definition/definition_loader.hpp"
#include "core/util/checked_file.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"
#include "host/bundles/terms_json.hpp"

namespace krux {
namespace {

constexpr std::int64_t kPinsVersion = 1;
constexpr std::uintmax_t kLargestPins = 16 << 20;

[[noreturn]] void unfit(const std::string& what) {
  throw ConfigError(fmt::format("{} is missing or unfit.", what));
}

std::string text(const JsonValue& object, const char* name) {
  const auto found = find_string(object, name);
  if (!found || found->empty()) unfit(name);
  return std::string(*found);
}

std::int64_t number(const JsonValue& object, const char* name, std::int64_t least) {
  const auto found = find_int(object, name);
  if (!found || *found < least) unfit(name);
  return *found;
}

bool is_file_name(const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos && name != "." && name != "..";
}

FileHashes parse_files(const JsonValue& object) {
  FileHashes files;
  const auto* found = find_member(object, "files");
  if (!found || !found->IsObject()) unfit("files");
  for (const auto& [name, hash] : found->GetObject()) {
    if (!hash.IsString() || hash.GetStringLength() != 64 || !is_file_name(std::string(view(name)))) unfit("files");
    files[std::string(view(name))] = std::string(view(hash));
  }
  return files;
}

BundlePin parse_pin(const JsonValue& object) {
  BundlePin pin;
  pin.directory = text(object, "directory");
  pin.files = parse_files(object);
  pin.library = text(object, "library");
  pin.installed_at_ms = number(object, "installed_at_ms", 0);
  pin.installed_by = text(object, "installed_by");
  const auto* terms = find_member(object, "terms");
  if (!terms) unfit("terms");
  pin.terms = parse_terms(*terms);
  if (!is_file_name(pin.directory)) unfit("directory");
  if (!is_plain_name(pin.terms.service) || !is_plain_name(pin.terms.prefix)) unfit("terms");
  if (!pin.files.contains(pin.library) || !pin.files.contains(kManifestName)) unfit("files");
  return pin;
}

}  // namespace

const BundlePin* BundlePins::find(const std::string& service) const {
  const auto at =
      std::find_if(bundles.begin(), bundles.end(), [&](const auto& pin) { return pin.terms.service == service; });
  return at == bundles.end() ? nullptr : &*at;
}

BundlePins parse_pins(std::string_view json, const std::string& name) {
  try {
    const auto root = parse_json(json, "the file", {kLargestPins, 8});
    if (number(root, "pins", 1) > kPinsVersion)
      throw ConfigError(fmt::format("this program reads version {}; install a newer one.", kPinsVersion));
    BundlePins pins;
    pins.next = number(root, "next", 1);
    const auto* bundles = find_member(root, "bundles");
    if (!bundles || !bundles->IsArray()) unfit("bundles");
    for (const auto& item : bundles->GetArray()) {
      auto pin = parse_pin(item);
      if (pins.find(pin.terms.service)) unfit("service");
      pins.bundles.push_back(std::move(pin));
    }
    const auto* directories = find_member(root, "directories");
    if (!directories || !directories->IsArray()) unfit("directories");
    for (const auto& entry : directories->GetArray()) {
      if (!entry.IsString() || !is_file_name(std::string(view(entry)))) unfit("directories");
      pins.directories.emplace_back(view(entry));
    }
    return pins;
  } catch (const std::exception& error) {
    throw ConfigError(fmt::format("{}: {} Move the file away, and install each bundle anew: kruxos plugin install DIR",
                                  name, error.what()));
  }
}

std::string pins_json(const BundlePins& pins) {
  return json_object([&](JsonWriter& out) {
    put(out, "pins", kPinsVersion);
    put(out, "next", pins.next);
    put_key(out, "directories");
    out.StartArray();
    for (const auto& name : pins.directories) out.String(name.c_str(), static_cast<rapidjson::SizeType>(name.size()));
    out.EndArray();
    put_objects(out, "bundles", pins.bundles, [&](const BundlePin& pin) {
      put(out, "directory", pin.directory);
      put(out, "library", pin.library);
      put(out, "installed_at_ms", pin.installed_at_ms);
      put(out, "installed_by", pin.installed_by);
      put_key(out, "files");
      out.StartObject();
      for (const auto& [name, hash] : pin.files) put(out, name, hash);
      out.EndObject();
      put_key(out, "terms");
      out.StartObject();
      put_terms(out, pin.terms);
      out.EndObject();
    });
  });
}

std::vector<std::string> pinned_files(const BundlePins& pins) {
  std::vector<std::string> names;
  for (const auto& pin : pins.bundles) {
    for (const auto& [name, hash] : pin.files) names.push_back(pin.directory + "/" + name);
  }
  return names;
}

std::filesystem::path pins_file(const std::filesystem::path& data_dir) {
  return data_dir / "bundles.json";
}

BundlePins read_pins(const std::filesystem::path& data_dir) {
  const auto file = pins_file(data_dir);
  std::error_code ignored;
  if (std::filesystem::symlink_status(file, ignored).type() == std::filesystem::file_type::not_found) return {};
  const auto found = read_checked_file(file, kLargestPins);
  if (!found.problem.empty()) throw ConfigError(fmt::format("{}: {}", printable(file.string()), found.problem));
  return parse_pins(found.bytes, printable(file.string()));
}

}  // namespace krux
