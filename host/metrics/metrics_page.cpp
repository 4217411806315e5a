#include "host/metrics/metrics_page.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "core/util/text.hpp"
#include "host/http/worker_pool.hpp"

namespace krux {
namespace {

constexpr MetricName kSourceUp{"kruxos_source_up", "Whether a part of the host gave its figures for this page."};

/// The sources, asked one after the other for one page.
struct Round {
  explicit Round(std::size_t sources) : answers(sources) {}
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::optional<MetricSheet>> answers;  ///< nothing: not asked yet, or it failed
  bool over = false;                                ///< all were asked, or the page is made
};

}  // namespace

struct MetricsPage::State {
  State(const MetricRegistry& r, std::vector<MetricSource> s, Options o)
      : registry(r), sources(std::move(s)), options(o), pages(1, o.most_waiting) {}

  void ask(Round& round) const;
  MetricSheet gather();
  ServerResponse page();

  const MetricRegistry& registry;
  const std::vector<MetricSource> sources;
  const Options options;
  WorkerPool readers{1, 1};
  WorkerPool pages;  ///< ends first: it waits for the readers
};

void MetricsPage::State::ask(Round& round) const {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    {
      const std::lock_guard lock(round.mutex);
      if (round.over) return;
    }
    std::optional<MetricSheet> sheet(std::in_place);
    try {
      sources[i].read(*sheet);
    } catch (const std::exception& error) {
      spdlog::warn("metrics: {} gave no figures: {}", sources[i].name, printable(error.what()));
      sheet.reset();
    }
    const std::lock_guard lock(round.mutex);
    round.answers[i] = std::move(sheet);
  }
  const std::lock_guard lock(round.mutex);
  round.over = true;
  round.changed.notify_all();
}

MetricSheet MetricsPage::State::gather() {
  const auto round = std::make_shared<Round>(sources.size());
  MetricSheet sheet;
  // Not taken where an earlier round still hangs in a source: nothing is known then but what was counted.
  const bool asked = readers.run([this, round] { ask(*round); });
  std::unique_lock lock(round->mutex);
  if (asked) {
    round->changed.wait_for(lock, std::chrono::milliseconds(options.patience_ms), [&] { return round->over; });
  }
  round->over = true;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    auto& answer = round->answers[i];
    sheet.gauge(kSourceUp, {{"source", sources[i].name}}, answer ? 1 : 0);
    if (answer) sheet.merge(std::move(*answer));
  }
  return sheet;
}

ServerResponse MetricsPage::State::page() {
  ServerResponse response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = registry.text(gather());
  return response;
}

MetricsPage::MetricsPage(const MetricRegistry& registry, std::vector<MetricSource> sources, Options options)
    : state_(std::make_unique<State>(registry, std::move(sources), options)) {}

MetricsPage::~MetricsPage() = default;

void MetricsPage::give(const Respond& respond) {
  if (state_->pages.run([state = state_.get(), respond] { respond(state->page()); })) return;
  auto refused =
      error_response(ErrorCode::kServiceUnavailable, "Too many ask for metrics at once. Ask again in a second.");
  refused.headers.emplace_back("Retry-After", "1");
  respond(std::move(refused));
}

}  // namespace krux
