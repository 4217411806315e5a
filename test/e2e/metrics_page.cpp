#include "metrics_page.hpp"

#include <regex>
#include <sstream>
#include <stdexcept>

namespace krux::test {
namespace {

bool ends_with_any(const std::string& name, std::string& family) {
  for (const std::string suffix : {"_bucket", "_sum", "_count"}) {
    if (!name.ends_with(suffix)) continue;
    family = name.substr(0, name.size() - suffix.size());
    return true;
  }
  return false;
}

void take_labels(const std::string& text, std::set<std::string>& labels) {
  static const std::regex label(R"re(([a-zA-Z_]+)="(?:[^"\\]|\\.)*")re");
  for (std::sregex_iterator at(text.begin(), text.end(), label), end; at != end; ++at) {
    if ((*at)[1] != "le") labels.insert((*at)[1]);
  }
}

void take_sample(MetricsPageText& page, const std::string& line) {
  const auto space = line.rfind(' ');
  const auto sample = line.substr(0, space);
  const auto brace = sample.find('{');
  const auto name = sample.substr(0, brace);
  if (!page.samples.emplace(sample, std::stod(line.substr(space + 1))).second)
    throw std::runtime_error("twice on the page: " + sample);
  std::string family = name;
  if (!page.types.count(family) && (!ends_with_any(name, family) || page.types[family] != "histogram"))
    throw std::runtime_error("no TYPE stands before: " + line);
  auto& labels = page.labels[family];
  if (brace != std::string::npos) take_labels(sample.substr(brace), labels);
}

}  // namespace

std::string MetricsPageText::brief() const {
  std::string out;
  for (const auto& [sample, value] : samples) {
    if (value != 0 && sample.find("_bucket{") == std::string::npos) out += sample + " " + std::to_string(value) + "\n";
  }
  return out;
}

double MetricsPageText::at(const std::string& sample) const {
  const auto found = samples.find(sample);
  return found == samples.end() ? -1 : found->second;
}

double MetricsPageText::sum(const std::string& name, const std::string& part) const {
  double all = 0;
  for (const auto& [sample, value] : samples) {
    const bool named = sample == name || sample.starts_with(name + "{");
    if (named && sample.find(part) != std::string::npos) all += value;
  }
  return all;
}

MetricsPageText read_metrics(HostRig& rig) {
  const auto reply = http_request(rig.health_port(), "GET", "/metrics", {{"host", "localhost"}});
  MetricsPageText page;
  page.text = reply.body;
  page.status = reply.status;
  page.content_type = reply.header("content-type");
  if (reply.status != 200) return page;
  std::istringstream lines(reply.body);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) {
      const auto name = line.substr(7, line.find(' ', 7) - 7);
      page.types[name] = line.substr(8 + name.size());
    } else if (!line.starts_with("#")) {
      take_sample(page, line);
    }
  }
  return page;
}

}  // namespace krux::test
