#include "core/facts/written_domains.hpp"

#include <algorithm>
#include <utility>

#include "core/facts/look_alike.hpp"
#include "core/policy/rules/recipients.hpp"
#include "core/state/text_values.hpp"

namespace krux {
namespace {

constexpr std::uint32_t kAtOnce = 2'000;
constexpr std::size_t kMostOfMessage = 1'000;

}  // namespace

bool WrittenDomains::read(Account& account, Correspondents& known) const {
  for (;;) {
    std::uint32_t rows = 0;
    auto last_ms = account.read_ms;
    const bool told = known.each_sent(account.read_ms, kAtOnce, [&](const RowView& row) {
      ++rows;
      last_ms = row.order_ms;
      for (const auto& value : values_in_json(row.json, kMostOfMessage)) {
        if (value.kind == ValueKind::kAddress) account.domains.emplace(domain_of(value.text));
      }
    });
    if (!told) return false;
    // Of the last time more may come.
    account.read_ms = rows == kAtOnce && last_ms == account.read_ms ? last_ms + 1 : last_ms;
    if (rows < kAtOnce) return true;
  }
}

std::optional<std::string> WrittenDomains::one_like(const std::string& account, Correspondents& known,
                                                    const std::string& domain) {
  const std::lock_guard lock(mutex_);
  auto& written = accounts_[account];
  if (!read(written, known)) return std::nullopt;
  const auto& all = written.domains;
  const auto like = std::find_if(all.begin(), all.end(), [&](const auto& one) { return looks_like(domain, one); });
  return like == all.end() ? std::string() : *like;
}

}  // namespace krux
