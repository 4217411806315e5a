// A page of metrics, taken apart.
#pragma once

#include <map>
#include <set>
#include <string>

#include "host_rig.hpp"

namespace krux::test {

struct MetricsPageText {
  std::string text;
  int status = 0;
  std::string content_type;
  std::map<std::string, double> samples;                // by `name{label="value",...}`, as the page has it
  std::map<std::string, std::string> types;             // by family
  std::map<std::string, std::set<std::string>> labels;  // by family, without `le`

  std::string brief() const;  // its samples, without buckets and zeros, for INFO()
  // Of one sample; -1 where there is none.
  double at(const std::string& sample) const;
  // Of all samples of that name whose labels contain `part`.
  double sum(const std::string& name, const std::string& part = "") const;
};

MetricsPageText read_metrics(HostRig& rig);

}  // namespace krux::test
