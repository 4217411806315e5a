// What a look means that presumes nothing: at a write that is held as a copy, or before a first attempt. Pure.
#pragma once

#include "core/write/outcome.hpp"

namespace krux {

/// After find_effect, before the first attempt: what is found is completed; what is absent, or nobody can tell, goes
/// out. A look that could not be made is made again: behind a refused token as soon as the account is connected again,
/// else after the gaps of `policy`, and where these are used up the write goes out.
WriteReport judge_first_reconcile(const WriteRecord& write, const CallEnd& end, const EffectFound& found,
                                  const RetryPolicy& policy);

/// After find_effect, of a write that is held as a copy: evidence for a person. A look that cannot tell is repeated
/// after the gaps of `policy`; one that could not be made does not count (could_not_look()).
WriteReport judge_copy_reconcile(const WriteRecord& write, const CallEnd& end, const EffectFound& found,
                                 const RetryPolicy& policy);

}  // namespace krux
