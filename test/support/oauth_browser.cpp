#include "support/oauth_browser.hpp"

#include <algorithm>
#include <stdexcept>

namespace krux::test {
namespace {

constexpr int kMostSteps = 10;

std::string unescape(std::string text) {
  const std::pair<const char*, const char*> entities[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}};
  for (const auto& [entity, character] : entities) {
    for (std::size_t at = 0; (at = text.find(entity, at)) != std::string::npos; ++at) {
      text.replace(at, std::string(entity).size(), character);
    }
  }
  return text;
}

// A tag's attributes; one without a value is its own value.
std::map<std::string, std::string> attributes_of(const std::string& tag) {
  std::map<std::string, std::string> attributes;
  std::size_t at = tag.find_first_of(" \t\n");
  while (at != std::string::npos) {
    const std::size_t name = tag.find_first_not_of(" \t\n", at);
    if (name == std::string::npos) break;
    const std::size_t end = std::min(tag.find_first_of(" \t\n=", name), tag.size());
    if (end + 1 < tag.size() && tag[end] == '=' && tag[end + 1] == '"') {
      const std::size_t close = tag.find('"', end + 2);
      if (close == std::string::npos) break;
      attributes[tag.substr(name, end - name)] = unescape(tag.substr(end + 2, close - end - 2));
      at = close + 1;
    } else {
      attributes[tag.substr(name, end - name)] = tag.substr(name, end - name);
      at = end < tag.size() ? end : std::string::npos;
    }
  }
  return attributes;
}

void take_input(const std::map<std::string, std::string>& attributes, WebForm& form) {
  const auto of = [&](const char* name) {
    auto found = attributes.find(name);
    return found == attributes.end() ? std::string() : found->second;
  };
  const bool can_be_left = of("type") == "checkbox" || of("type") == "radio";
  if (of("name").empty()) return;
  if (!can_be_left || attributes.count("checked") != 0)
    form.fields[of("name")] = of("value");
  else
    form.unchecked[of("name") + "=" + of("value")] = of("value");
}

void fill_in(WebForm& form, const Consent& consent) {
  if (!consent.account.empty() && form.fields["account"] != consent.account) {
    if (form.unchecked.count("account=" + consent.account) == 0) {
      throw std::runtime_error("the page does not offer the account " + consent.account);
    }
    form.fields["account"] = consent.account;
  }
  for (const std::string& scope : consent.untick) {
    const auto box = std::find_if(form.fields.begin(), form.fields.end(), [&](const auto& field) {
      return field.first.rfind("granted_", 0) == 0 && field.second == scope;
    });
    if (box == form.fields.end()) throw std::runtime_error("the page has no box for " + scope);
    form.fields.erase(box);
  }
  form.fields["decision"] = consent.deny ? "deny" : "allow";
}

bool is_here(const WebAddress& address) {
  return !address.secure && (address.host == "127.0.0.1" || address.host == "localhost");
}

std::string origin_of(const WebAddress& address) {
  return "http://" + address.host + ":" + std::to_string(address.port);
}

HttpReply get(const WebAddress& address) {
  return http_request(address.port, "GET", address.target,
                      {{"host", address.host + ":" + std::to_string(address.port)}, {"accept", "text/html"}});
}

HttpReply submit(const WebAddress& address, const WebForm& form) {
  return http_request(address.port, "POST", form.action,
                      {{"host", address.host + ":" + std::to_string(address.port)},
                       {"content-type", "application/x-www-form-urlencoded"}},
                      form_encode(form.fields));
}

}  // namespace

WebAddress read_web_address(const std::string& text) {
  WebAddress address;
  const std::size_t colon = text.find("://");
  const std::string scheme = text.substr(0, std::min(colon, text.size()));
  if (colon == std::string::npos || (scheme != "http" && scheme != "https")) return address;
  const std::size_t host = colon + 3, path = std::min(text.find_first_of("/?#", host), text.size());
  const std::string authority = text.substr(host, path - host);
  const std::size_t port = authority.rfind(':');
  address.secure = scheme == "https";
  address.port = address.secure ? 443 : 80;
  address.host = authority.substr(0, port);
  if (port != std::string::npos) address.port = static_cast<std::uint16_t>(std::atoi(authority.c_str() + port + 1));
  address.target = text.substr(path);
  if (address.target.empty() || address.target[0] != '/') address.target.insert(0, "/");
  return address;
}

std::optional<WebForm> read_form(const std::string& html) {
  const std::size_t open = html.find("<form");
  if (open == std::string::npos) return std::nullopt;
  WebForm form;
  const std::size_t end = std::min(html.find("</form>", open), html.size());
  for (std::size_t at = open; at < end; at = html.find('<', at + 1)) {
    const std::string tag = html.substr(at + 1, html.find('>', at) - at - 1);
    const auto attributes = attributes_of(tag);
    if (tag.rfind("form", 0) == 0) {
      form.method = attributes.count("method") != 0 ? attributes.at("method") : "get";
      form.action = attributes.count("action") != 0 ? attributes.at("action") : "";
    } else if (tag.rfind("input", 0) == 0) {
      take_input(attributes, form);
    }
  }
  return form;
}

Landing browse(const std::string& start, const Consent& consent) {
  Landing landing{start, std::nullopt};
  for (int step = 0; step < kMostSteps; ++step) {
    const WebAddress address = read_web_address(landing.address);
    if (!is_here(address)) return landing;
    HttpReply reply;
    try {
      reply = get(address);
    } catch (const std::runtime_error&) {
      return landing;
    }
    auto form = reply.status == 200 ? read_form(reply.body) : std::nullopt;
    if (form) {
      fill_in(*form, consent);
      reply = submit(address, *form);
    }
    const std::string next = reply.header("location");
    if (next.empty()) {
      landing.page = std::move(reply);
      return landing;
    }
    landing.address = next[0] == '/' ? origin_of(address) + next : next;
  }
  throw std::runtime_error("the page leads in circles: " + start);
}

}  // namespace krux::test
