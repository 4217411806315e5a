#include "host/gateway/form_values.hpp"

#include <algorithm>

#include "host/http/http_types.hpp"

namespace krux {

std::optional<FormValues> FormValues::parse(std::string_view text) {
  constexpr int kMostPairs = 100;
  FormValues form;
  for (int pairs = 0; !text.empty(); ++pairs) {
    if (pairs == kMostPairs) return std::nullopt;
    const auto end = text.find('&');
    std::string pair(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    std::replace(pair.begin(), pair.end(), '+', ' ');
    const auto equals = std::min(pair.find('='), pair.size());
    const auto name = url_decode(std::string_view(pair).substr(0, equals));
    auto value = url_decode(std::string_view(pair).substr(std::min(equals + 1, pair.size())));
    if (!name || !value) return std::nullopt;
    if (!value->empty()) form.values_[*name].push_back(*std::move(value));
  }
  return form;
}

std::optional<std::string> FormValues::find(const std::string& name) const {
  const auto at = values_.find(name);
  return at == values_.end() ? std::nullopt : std::optional(at->second.front());
}

std::vector<std::string> FormValues::all(const std::string& name) const {
  const auto at = values_.find(name);
  return at == values_.end() ? std::vector<std::string>() : at->second;
}

std::string FormValues::repeated(std::initializer_list<const char*> names) const {
  for (const auto* name : names) {
    if (all(name).size() > 1) return name;
  }
  return {};
}

}  // namespace krux
