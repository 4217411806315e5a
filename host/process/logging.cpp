#include "host/process/logging.hpp"

#include <spdlog/formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <memory>

#include "core/util/json.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

std::int64_t unix_ms(const spdlog::details::log_msg& message) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(message.time.time_since_epoch()).count();
}

std::string_view view_of(spdlog::string_view_t text) {
  return {text.data(), text.size()};
}

class LineFormatter final : public spdlog::formatter {
 public:
  explicit LineFormatter(bool json) : json_(json) {}

  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const auto level = view_of(spdlog::level::to_string_view(message.level));
    const auto time = format_time(unix_ms(message));
    const auto text = printable(view_of(message.payload));
    const auto line = json_ ? fmt::format(R"({{"time":"{}","level":"{}","message":{}{}}})", time, level,
                                          json_string(text), log_members(message.source))
                            : fmt::format("{} {:<7} {}", time, level, text);
    out.append(line.data(), line.data() + line.size());
    out.push_back('\n');
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<LineFormatter>(json_); }

 private:
  const bool json_;
};

}  // namespace

void configure_logging(const std::string& level, bool json) {
  auto logger = std::make_shared<spdlog::logger>("kruxosd", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_formatter(std::make_unique<LineFormatter>(json));
  logger->set_level(spdlog::level::from_str(level));
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace krux
