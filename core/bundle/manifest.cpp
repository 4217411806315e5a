#include "core/bundle/manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "core/bundle/conformance.hpp"
#include "core/definition/base_url.hpp"
#include "core/definition/definition_loader.hpp"
#include "core/net/url.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"
#include "core/util/yaml_value.hpp"

namespace krux {
namespace {

constexpr std::uintmax_t kLargestFile = std::uintmax_t{256} << 20;

/// A name that leads to no other place than the manifest's own directory.
std::string parse_file_name(const YamlValue& value) {
  auto name = value.line(200);
  const bool separated = name.find_first_of("/\\") != std::string::npos;
  if (separated || name == "." || name == ".." || name.front() == '-')
    value.fail(fmt::format("\"{}\" is not the name of a file in the manifest's directory.", printable(name)));
  return name;
}

std::string parse_suffixed(const YamlValue& value, std::string_view suffix) {
  auto name = parse_file_name(value);
  if (!name.ends_with(suffix) || name.size() == suffix.size())
    value.fail(fmt::format("\"{}\" is not accepted: the file's name ends in {}.", printable(name), suffix));
  return name;
}

/// Three decimal numbers, as an adapter's entry says its version.
std::string parse_version_text(const YamlValue& value) {
  auto text = value.line(40);
  int dots = 0, digits = 0;
  bool fits = true;
  for (const char c : text) {
    if (c == '.') {
      fits = fits && digits > 0;
      digits = 0;
      ++dots;
    } else {
      fits = fits && c >= '0' && c <= '9' && ++digits <= 6;
    }
  }
  if (!fits || dots != 2 || digits == 0)
    value.fail(fmt::format("\"{}\" is not a version: three numbers are expected, such as 1.0.0.", printable(text)));
  return text;
}

std::vector<std::string> parse_hosts(const YamlValue& value) {
  auto hosts = value.lines(64);
  if (hosts.empty()) value.fail("the list is empty.");
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (const auto why = why_not_host(hosts[i]); !why.empty()) value.list()[i].fail(why);
  }
  return hosts;
}

std::map<std::string, std::string> parse_hashes(const YamlValue& value) {
  std::map<std::string, std::string> hashes;
  for (const auto& [key, hash] : value.entries()) {
    const auto text = hash.line(64);
    const bool hex =
        std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
    if (text.size() != 64 || !hex) hash.fail("this is not a SHA-256: 64 hexadecimal digits, small letters.");
    hashes[parse_file_name(key)] = text;
  }
  return hashes;
}

/// What is wrong with a hash that the manifest gives, or nothing.
std::string hash_problem(const BundleManifest& manifest, const std::string& name) {
  const auto real = bundle_file_hash(manifest, name);
  const auto given = manifest.hashes.find(name);
  if (given == manifest.hashes.end() || given->second == real) return {};
  return fmt::format(
      "{}: {} has the SHA-256 {}, not the one that is given under hashes. Take the bundle anew from its "
      "author, or, if it is your own, write the new hash.",
      manifest.file.string(), printable(name), real);
}

}  // namespace

const BundleWrite* BundleConformance::find(const std::string& operation) const {
  const auto at = std::find_if(writes.begin(), writes.end(), [&](const auto& w) { return w.operation == operation; });
  return at == writes.end() ? nullptr : &*at;
}

BundleManifest parse_manifest(std::string_view text, const std::string& name) {
  const auto root = parse_yaml(text, name);
  const YamlMap map(YamlValue(root, name, ""), {"manifest", "service", "version", "abi", "library", "definition",
                                                "policy", "hosts", "hashes", "conformance"});
  const auto format = map.at("manifest");
  if (format.integer(1, 1'000'000) > kBundleManifestVersion)
    format.fail(
        fmt::format("this program reads manifests of version {}; install a newer one.", kBundleManifestVersion));
  BundleManifest manifest;
  manifest.service = map.at("service").line(32);
  if (!is_plain_name(manifest.service))
    map.at("service").fail("small letters, digits and _ are accepted, at most 32, a letter first.");
  manifest.version = parse_version_text(map.at("version"));
  manifest.abi = map.at("abi").integer(1, 1000);
  manifest.library = parse_suffixed(map.at("library"), ".so");
  manifest.definition = parse_suffixed(map.at("definition"), ".yaml");
  if (manifest.definition != manifest.service + ".yaml")
    map.at("definition").fail(fmt::format("the definition's name must be {}.yaml.", manifest.service));
  if (auto v = map.find("policy")) manifest.policy = parse_suffixed(*v, ".yaml");
  manifest.hosts = parse_hosts(map.at("hosts"));
  if (auto v = map.find("hashes")) manifest.hashes = parse_hashes(*v);
  if (auto v = map.find("conformance")) manifest.conformance = parse_conformance(*v);
  return manifest;
}

BundleManifest load_manifest(const std::filesystem::path& path) {
  std::error_code error;
  auto file = std::filesystem::absolute(path, error).lexically_normal();
  if (!error && std::filesystem::is_directory(file, error)) file /= "manifest.yaml";
  auto manifest = parse_manifest(read_text_file(file), file.string());
  manifest.directory = std::filesystem::canonical(file.parent_path(), error);
  if (error) throw ConfigError(fmt::format("{}: its directory cannot be used: {}.", file.string(), error.message()));
  manifest.file = manifest.directory / file.filename();
  std::set<std::string> names{manifest.library, manifest.definition};
  if (!manifest.policy.empty()) names.insert(manifest.policy);
  for (const auto& [name, hash] : manifest.hashes) names.insert(name);
  for (const auto& name : names) {
    if (const auto problem = hash_problem(manifest, name); !problem.empty()) throw ConfigError(problem);
  }
  return manifest;
}

std::string bundle_file_hash(const BundleManifest& manifest, const std::string& name) {
  const auto file = manifest.directory / name;
  std::error_code error;
  if (std::filesystem::symlink_status(file, error).type() != std::filesystem::file_type::regular)
    throw ConfigError(
        fmt::format("{}: {} is missing beside it, or is no regular file.", manifest.file.string(), printable(name)));
  if (std::filesystem::file_size(file, error) > kLargestFile)
    throw ConfigError(fmt::format("{}: {} is larger than 256 MiB.", manifest.file.string(), printable(name)));
  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw ConfigError(fmt::format("{}: {} cannot be read.", manifest.file.string(), printable(name)));
  return sha256_hex(bytes);
}

std::string why_not_definition(const BundleManifest& manifest, const ServiceDefinition& definition) {
  if (definition.service != manifest.service)
    return fmt::format("The definition is of the service {}, the manifest of {}.", definition.service,
                       manifest.service);
  std::set<std::string> wanted(definition.hosts.begin(), definition.hosts.end());
  wanted.insert(parse_base_url(definition.api_base_url).host);
  for (const auto& host : wanted) {
    if (std::find(manifest.hosts.begin(), manifest.hosts.end(), host) == manifest.hosts.end())
      return fmt::format("The definition names the host {}, which is not among the manifest's hosts; add it there.",
                         host);
  }
  for (const auto& host : manifest.hosts) {
    if (!wanted.contains(host))
      return fmt::format("The manifest names the host {}, which the definition does not; remove it there.", host);
  }
  return {};
}

}  // namespace krux
