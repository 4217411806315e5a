#include "host/plugins/metered_adapter.hpp"

#include <utility>

#include "core/adapter/adapter_meters.hpp"
#include "core/replica/sync_session.hpp"

namespace krux {
namespace {

void note_replaced(CallContext& call, const SessionPtr& store) {
  call.note_replaced(store->replaced());
}
template <class Other>
void note_replaced(CallContext&, const Other&) {}

class MeteredAdapter final : public AnswersAlike<MeteredAdapter> {
 public:
  MeteredAdapter(std::shared_ptr<ServiceAdapter> adapter, AdapterMeter& meter, const AdapterMeters& meters)
      : adapter_(std::move(adapter)), meter_(meter), meters_(meters) {}

  AdapterRoles roles() const override { return adapter_->roles(); }

  template <class Function, class... Arguments>
  CallResult<typename Function::Result> answer_alike(Function function, const CallContextPtr& call,
                                                     const Arguments&... arguments) {
    const auto began = meters_.now_us();
    auto result = adapter_->answer(function, call, arguments...);
    (note_replaced(*call, arguments), ...);
    meter_.returned(Function::kName, *call, std::get_if<CallFailure>(&result), meters_.now_us() - began);
    return result;
  }

 private:
  const std::shared_ptr<ServiceAdapter> adapter_;
  AdapterMeter& meter_;
  const AdapterMeters& meters_;
};

}  // namespace

std::shared_ptr<ServiceAdapter> metered(std::shared_ptr<ServiceAdapter> adapter, const std::string& service,
                                        AdapterMeters* meters) {
  if (!meters) return adapter;
  return std::make_shared<MeteredAdapter>(std::move(adapter), meters->of(service), *meters);
}

}  // namespace krux
