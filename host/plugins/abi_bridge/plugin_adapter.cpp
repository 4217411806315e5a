#include "host/plugins/abi_bridge/plugin_adapter.hpp"

#include <fmt/format.h>

#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

#include "host/plugins/abi_bridge/crossing.hpp"

namespace krux {
namespace {

/// Calls the adapter's function. One that is lent no call cannot fail: what it returns is the answer.
template <class Function, class... Arguments>
CallResult<typename Function::Result> enter(const AdapterInstance& instance, LentCall& call,
                                            const Handed<Arguments>&... handed) {
  const auto entry = instance.table<typename Function::Table>().*Function::kEntry;
  if constexpr (std::is_invocable_v<decltype(entry), void*, decltype(handed.abi())...>) {
    return entry(instance.self(), handed.abi()...) != 0;
  } else {
    Awaited<Function> awaited;
    const auto status = std::apply(
        [&](auto*... out) { return entry(instance.self(), call.table(), handed.abi()..., out...); }, awaited.out());
    return awaited.value(call, status);
  }
}

class PluginAdapter final : public AnswersAlike<PluginAdapter> {
 public:
  explicit PluginAdapter(std::shared_ptr<AdapterInstance> instance) : instance_(std::move(instance)) {}

  AdapterRoles roles() const override { return instance_->roles(); }

  /// What the host's own code throws around an adapter's function becomes a failure of unknown effect.
  template <class Function, class... Arguments>
  CallResult<typename Function::Result> answer_alike(Function function, const CallContextPtr& call,
                                                     const Arguments&... arguments) {
    const auto instance = instance_;  // an abandoned call may return after everybody else has let go of the adapter
    if (!(instance->roles().*Function::has())) return answer_without(function, arguments...);
    try {
      LentCall lent(call, Function::kExtras.notes ? LentCall::Notes::kKept : LentCall::Notes::kRefused);
      return enter<Function>(*instance, lent, Handed<Arguments>(arguments, lent, instance->collections())...);
    } catch (const std::exception& e) {
      return defect(fmt::format("The host could not handle the adapter's call: {}", e.what()));
    }
  }

 private:
  const std::shared_ptr<AdapterInstance> instance_;
};

}  // namespace

std::shared_ptr<ServiceAdapter> make_plugin_adapter(std::shared_ptr<AdapterInstance> instance) {
  return std::make_shared<PluginAdapter>(std::move(instance));
}

}  // namespace krux
