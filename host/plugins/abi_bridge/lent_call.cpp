#include "host/plugins/abi_bridge/lent_call.hpp"

#include <fmt/format.h>
#include <kruxos/abi/entry.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "host/plugins/abi_bridge/limits.hpp"

namespace krux {
namespace {

/// Which tables are lent at this moment, so that one that an adapter kept too long leads nowhere.
struct LiveCalls {
  std::mutex mutex;
  std::unordered_map<const krux_call*, CallContextPtr> calls;
};

LiveCalls& live() {
  static auto* all = new LiveCalls;  // never destroyed: lost threads may end after the statics
  return *all;
}

/// An adapter's sentence, fit to be shown.
std::string clean_message(krux_str message) {
  if (message.len == 0 || !message.ptr) return {};
  std::string_view text(message.ptr, std::min(message.len, limits::kLongestSentence));
  if (text.size() < message.len) {  // not in the middle of a character
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.remove_suffix(1);
    if (!text.empty()) text.remove_suffix(1);
  }
  return printable(text);
}

}  // namespace

LentCall::LentCall(CallContextPtr call, Notes notes) : call_(std::move(call)), notes_(notes) {
  const auto& owner = call_->owner();
  table_.size = sizeof(krux_call);
  table_.attempt = owner.attempt;
  table_.self = this;
  table_.write_id = to_abi(owner.write_id);
  table_.agent = to_abi(owner.agent);
  table_.deadline_ms = call_->clock().wall_ms() + call_->left_ms();
  table_.cancelled = [](void* self) noexcept -> std::int32_t {
    return static_cast<LentCall*>(self)->call_->cancelled();
  };
  table_.fail = [](void* self, const krux_failure* failure) noexcept {
    auto& me = *static_cast<LentCall*>(self);
    me.guard([&] {
      me.fail(required(failure, "The failure"));
      return KRUX_OK;
    });
  };
  table_.now_ms = [](void* self) noexcept { return static_cast<LentCall*>(self)->call_->clock().wall_ms(); };
  table_.remember = [](void* self, krux_str note) noexcept -> krux_status {
    auto& me = *static_cast<LentCall*>(self);
    return me.guard([&] { return me.remember(note); });
  };
  lend_dialogue();
  const std::lock_guard lock(live().mutex);
  live().calls.emplace(&table_, call_);
}

void LentCall::lend_dialogue() {
  if (const auto* dialogue = call_->dialogue()) {
    table_.can_ask = dialogue->can_ask;
    table_.answers_json = to_abi(dialogue->answers_json);
    table_.state = to_abi(dialogue->state);
  }
  table_.progress = [](void* self, double done, double total, krux_str message) noexcept {
    auto& me = *static_cast<LentCall*>(self);
    me.guard([&] {
      me.progress(done, total, message);
      return KRUX_OK;
    });
  };
  table_.tell = [](void* self, std::int32_t level, krux_str message) noexcept {
    auto& me = *static_cast<LentCall*>(self);
    me.guard([&] {
      me.tell(level, message);
      return KRUX_OK;
    });
  };
  table_.ask = [](void* self, krux_str questions, krux_str state) noexcept -> krux_status {
    auto& me = *static_cast<LentCall*>(self);
    return me.guard([&] { return me.ask(questions, state); });
  };
}

LentCall::~LentCall() {
  const std::lock_guard lock(live().mutex);
  live().calls.erase(&table_);
}

CallContextPtr LentCall::find(const krux_call* table) {
  const std::lock_guard lock(live().mutex);
  const auto found = live().calls.find(table);
  return found == live().calls.end() ? nullptr : found->second;
}

void LentCall::fail(const krux_failure& failure) {
  CallFailure said;
  said.status = is_known(failure.status) && failure.status != KRUX_OK ? failure.status : KRUX_INTERNAL;
  said.effect_none = failure.effect == KRUX_EFFECT_NONE;
  if (failure.type.ptr) said.type = ErrorType::named({failure.type.ptr, failure.type.len});
  said.message = clean_message(failure.message);
  if (failure.retry_after_ms >= 0) said.retry_after_ms = std::min(failure.retry_after_ms, limits::kLongestRetryAfterMs);
  {
    const std::lock_guard lock(mutex_);
    if (said_) return;
    said_ = said;
  }
  call_->fail(std::move(said));
}

krux_status LentCall::remember(krux_str note) {
  if (notes_ == Notes::kRefused) return KRUX_UNSUPPORTED;
  const auto text = text_of(note, "The note", limits::kLargestNote);
  parse_json(text, "the note");
  if (call_->remember(text)) return KRUX_OK;
  return call_->ended() ? KRUX_CANCELLED : KRUX_STORAGE;
}

void LentCall::progress(double done, double total, krux_str message) {
  const auto* dialogue = call_->dialogue();
  if (!dialogue || !dialogue->progress || !std::isfinite(done) || !std::isfinite(total)) return;
  dialogue->progress({done, total, clean_message(message)});
}

void LentCall::tell(std::int32_t level, krux_str message) {
  const auto* dialogue = call_->dialogue();
  if (dialogue && dialogue->tell)
    dialogue->tell(std::clamp<std::int32_t>(level, KRUX_LOG_DEBUG, KRUX_LOG_ERROR), clean_message(message));
}

krux_status LentCall::ask(krux_str questions, krux_str state) {
  if (!call_->dialogue()) return KRUX_UNSUPPORTED;
  const auto text = text_of(questions, "The questions", limits::kLargestQuestions);
  if (!is_json_object(text, {limits::kLargestQuestions, 32})) return KRUX_INVALID;
  return call_->ask({std::string(text), std::string(text_of(state, "The state", limits::kLargestReadState))});
}

krux_status LentCall::host_failed(krux_status status, const char* words) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    host_words_ = words;
  } catch (...) {  // without words, then
  }
  return status;
}

CallFailure LentCall::failure(krux_status returned) const {
  CallFailure failure;
  const std::lock_guard lock(mutex_);
  if (said_) {
    failure = *said_;
  } else if (is_known(returned)) {
    failure.status = returned;
  } else {
    failure.message = with_advice_on_defect(
        fmt::format("The adapter returned the status {}, which this host does not know.", returned));
  }
  if (said_ && failure.status == KRUX_INTERNAL && !failure.message.empty() && host_words_.empty())
    failure.message = with_advice_on_defect(fmt::format("The adapter threw: {}", failure.message));
  if (failure.message.empty()) failure.message = words_for(failure.status);
  if (!host_words_.empty()) failure.message += fmt::format(" (The host had said: {})", host_words_);
  if (call_->wire() == WireState::kOpen) failure.effect_none = false;
  return failure;
}

}  // namespace krux
