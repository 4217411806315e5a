// Every name and label of a metric that the documents, the board and the alert rules use is one that a host exports,
// and the other way round.
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "e2e/host_fixture.hpp"
#include "e2e/metrics_page.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

const std::filesystem::path kSource = KRUXOS_SOURCE_DIR;

struct Exported {
  std::string type;
  std::set<std::string> labels;
  bool operator==(const Exported&) const = default;
};
using Metrics = std::map<std::string, Exported>;

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

std::vector<std::string> all_matches(const std::string& text, const std::string& pattern, std::size_t group = 1) {
  const std::regex wanted(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), wanted), end; at != end; ++at) found.push_back((*at)[group]);
  return found;
}

/// Rows such as: | `kruxos_x_total` | counter | service, account | ... |
Metrics documented() {
  Metrics metrics;
  std::istringstream lines(bytes_of(kSource / "docs/metrics.md"));
  const std::regex row(R"(^\| `(kruxos_[a-z_]+)` \| (counter|gauge|histogram) \| ([a-z_, ]*) ?\| (.+) \|$)");
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `kruxos_")) continue;
    std::smatch parts;
    INFO(line);
    REQUIRE(std::regex_match(line, parts, row));
    Exported metric{parts[2], {}};
    for (const auto& label : all_matches(parts[3], "([a-z_]+)")) metric.labels.insert(label);
    CHECK(metrics.emplace(parts[1], metric).second);
  }
  return metrics;
}

/// Adds what stands on the page; labels of one family are those of all its lines together.
void take(Metrics& metrics, const MetricsPageText& page) {
  for (const auto& [name, type] : page.types) {
    auto& metric = metrics[name];
    metric.type = type;
    if (const auto labels = page.labels.find(name); labels != page.labels.end()) {
      metric.labels.insert(labels->second.begin(), labels->second.end());
    }
  }
}

/// A host whose every part has had something to count.
Metrics exported() {
  RigOptions options;
  options.service = kInItsOwnProcess;
  Rig rig(options);
  rig.begin();
  rig.invoke("slack.search");
  const auto cancelled = rig.send("taken back").write_id();
  rig.invoke("proxy.cancel_write", R"({"write_id":")" + cancelled + "\"}");
  Metrics metrics;
  take(metrics, read_metrics(rig));
  rig.slack().fault(R"({"method":"chat.postMessage","kind":"reset_after"})");
  const auto lost = rig.send("its answer is lost").write_id();
  REQUIRE(rig.pass_time([&] { return rig.state(lost) == "unknown"; }));
  take(metrics, read_metrics(rig));
  REQUIRE(rig.pass_time([&] { return rig.state(lost) == "completed"; }));
  rig.slack().fault(R"({"method":"chat.postMessage","kind":"rate_limited","retry_after":3000,"count":0})");
  const auto dead = rig.send("refused for now").write_id();
  REQUIRE(rig.pass_time([&] { return rig.state(dead) == "dead_letter"; }));
  rig.slack().act(std::string(R"({"action":"revoke_token","token":")") + kToken + R"(","error":"token_revoked"})");
  REQUIRE(rig.pass_time([&] { return read_metrics(rig).sum("kruxos_account_up") == 0; }));
  take(metrics, read_metrics(rig));
  return metrics;
}

const Metrics& host_metrics() {
  static const auto metrics = exported();
  return metrics;
}

/// Of `kruxos_x_bucket` the histogram, of others the name itself; empty where there is none.
std::string family_of(const std::string& name) {
  if (host_metrics().count(name)) return name;
  for (const std::string suffix : {"_bucket", "_sum", "_count"}) {
    if (!name.ends_with(suffix)) continue;
    const auto base = name.substr(0, name.size() - suffix.size());
    const auto found = host_metrics().find(base);
    if (found != host_metrics().end() && found->second.type == "histogram") return base;
  }
  return {};
}

/// Labels that the metrics of an expression have, together.
std::set<std::string> labels_in(const std::string& expression) {
  std::set<std::string> labels{"le", "instance", "job"};
  for (const auto& name : all_matches(expression, "(kruxos_[a-z_]+)")) {
    const auto family = family_of(name);
    INFO(name << " in " << expression);
    CHECK_FALSE(family.empty());
    if (family.empty()) continue;
    const auto& own = host_metrics().at(family).labels;
    labels.insert(own.begin(), own.end());
  }
  return labels;
}

/// Names in `text` that are meant to be labels: each must be one of the expression's.
void check_labels(const std::string& expression, const std::vector<std::string>& used) {
  const auto known = labels_in(expression);
  for (const auto& label : used) {
    INFO(label << " in " << expression);
    CHECK(known.count(label) == 1);
  }
}

/// What stands in its selectors and groupings.
void check_expression(const std::string& expression) {
  for (const auto& selector : all_matches(expression, R"((kruxos_[a-z_]+\{[^}]*\}))")) {
    check_labels(selector, all_matches(selector, R"re(([a-z_]+) *(?:=~|!~|!=|=) *")re"));
  }
  std::vector<std::string> grouped;
  for (const auto& group : all_matches(expression, R"((?:by|on|without|ignoring|group_left) *\(([a-z_, ]*)\))")) {
    for (const auto& label : all_matches(group, "([a-z_]+)")) grouped.push_back(label);
  }
  check_labels(expression, grouped);
}

std::string string_at(const rapidjson::Value& object, const char* member) {
  const auto found = object.FindMember(member);
  return found != object.MemberEnd() && found->value.IsString() ? found->value.GetString() : "";
}

void check_documents() {
  const auto in_documents = documented();
  for (const auto& [name, metric] : host_metrics()) {
    INFO(name);
    REQUIRE(in_documents.count(name) == 1);
    CHECK(in_documents.at(name).type == metric.type);
    CHECK(in_documents.at(name).labels == metric.labels);
  }
  for (const auto& [name, metric] : in_documents) {
    INFO(name);
    CHECK(host_metrics().count(name) == 1);
  }
}

void check_names() {
  for (const auto& [name, metric] : host_metrics()) {
    INFO(name);
    CHECK(name.starts_with("kruxos_"));
    CHECK(name.ends_with("_total") == (metric.type == "counter"));
    CHECK((metric.type != "histogram" || name.ends_with("_seconds")));
  }
}

void check_board() {
  const auto board = parse(bytes_of(kSource / "examples/monitoring/grafana-dashboard.json"));
  std::set<std::string> used;
  std::set<int> ids;
  for (const auto& panel : board["panels"].GetArray()) {
    INFO(string_at(panel, "title"));
    CHECK(ids.insert(panel["id"].GetInt()).second);
    if (string_at(panel, "type") == "row") continue;
    REQUIRE(panel["targets"].Size() > 0);
    for (const auto& target : panel["targets"].GetArray()) {
      const auto expression = string_at(target, "expr");
      check_expression(expression);
      check_labels(expression, all_matches(string_at(target, "legendFormat"), R"(\{\{ *([a-z_]+) *\}\})"));
      CHECK(text_at(target, "/datasource/uid") == "${datasource}");
      for (const auto& name : all_matches(expression, "(kruxos_[a-z_]+)")) used.insert(family_of(name));
    }
  }
  for (const auto& variable : board["templating"]["list"].GetArray()) {
    if (string_at(variable, "type") == "datasource") continue;
    const auto query = string_at(variable, "definition");
    check_labels(query, all_matches(query, R"(, *([a-z_]+)\)$)"));
    CHECK(text_at(variable, "/query/query") == query);
  }
  for (const auto& [name, metric] : host_metrics()) {
    INFO(name << " stands on no panel");
    CHECK(used.count(name) == 1);
  }
}

void check_rules() {
  const auto rules = YAML::LoadFile((kSource / "examples/monitoring/alerts.yaml").string());
  const auto commands = bytes_of(kSource / "docs/cli.md");
  std::set<std::string> names;
  for (const auto& group : rules["groups"]) {
    for (const auto& rule : group["rules"]) {
      const auto name = rule["alert"].as<std::string>();
      const auto expression = rule["expr"].as<std::string>();
      const auto summary = rule["annotations"]["summary"].as<std::string>();
      INFO(name);
      CHECK(names.insert(name).second);
      check_expression(expression);
      check_labels(expression, all_matches(summary, R"(\$labels\.([a-z_]+))"));
      const auto severity = rule["labels"]["severity"].as<std::string>();
      CHECK((severity == "critical" || severity == "warning" || severity == "info"));
      const auto named = all_matches(summary, R"(kruxos ([a-z]+(?: [a-z]+)?))");
      CHECK((!named.empty() || name == "KruxosDown"));
      for (const auto& command : named) {
        INFO(command);
        const auto first = command.substr(0, command.find(' '));
        const bool known = commands.find('`' + command) != std::string::npos ||
                           (commands.find('`' + first + '`') != std::string::npos ||
                            commands.find('`' + first + " SERVICE") != std::string::npos ||
                            commands.find('`' + first + " [") != std::string::npos);
        CHECK(known);
      }
    }
  }
  CHECK(names.size() > 15);
}

}  // namespace

TEST_CASE("documents, board and alert rules name the metrics that a host exports, with their labels") {
  SECTION("docs/metrics.md lists all of them with type and labels, and nothing else") {
    check_documents();
  }
  SECTION("their names follow Prometheus' conventions") {
    check_names();
  }
  SECTION("the board shows all of them, and nothing that there is not") {
    check_board();
  }
  SECTION("the alert rules use nothing that there is not, and say what to do") {
    check_rules();
  }
}

}  // namespace KRUXOS_TEST_FILE
