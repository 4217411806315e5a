// An adapter that answers nothing, for tests that override what they need.
#pragma once

#include "core/adapter/service_adapter.hpp"

namespace krux::test {

class RefusingAdapter : public AnswersAlike<RefusingAdapter> {
 public:
  using AnswersAlike::answer;
  AdapterRoles roles() const override { return {}; }

  template <class Function, class... Arguments>
  CallResult<typename Function::Result> answer_alike(Function, const CallContextPtr&, const Arguments&...) {
    return CallFailure{KRUX_UNSUPPORTED, true, {}, "not here", {}};
  }
};

}  // namespace krux::test
