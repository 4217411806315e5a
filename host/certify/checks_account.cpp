#include <fmt/format.h>

#include "core/util/text.hpp"
#include "host/certify/checks.hpp"
#include "host/certify/static_checks.hpp"

namespace krux::certify {
namespace {

std::string described(const PluginInfo& plugin) {
  std::string text;
  const krux_sink sink{&text, [](void* self, krux_str bytes) noexcept -> std::int32_t {
                         static_cast<std::string*>(self)->append(bytes.ptr, bytes.len);
                         return 0;
                       }};
  if (plugin.entry->describe(&sink) != KRUX_OK) throw CheckFailed("describe() failed when it was called once more.");
  return text;
}

CallAnswer<Identity> verify(Lab& lab, const CallOptions& options = {}) {
  const auto adapter = lab.stranger();
  if (!adapter->roles().account) throw not_applicable("the adapter has no account role");
  return lab.call<Identity>("verify", options, [adapter](const auto& call) { return adapter->ask<"verify">(call); });
}

std::size_t requests_of_verify(Lab& lab) {
  lab.faults().clear();
  verify(lab);
  return lab.faults().count();
}

}  // namespace

void check_describe(Lab& lab, const std::string&) {
  const auto& plugin = *lab.bench().registry->find(lab.definition().service);
  const auto first = described(plugin);
  for (int i = 0; i < 3; ++i) {
    if (described(plugin) != first) throw CheckFailed("Two calls gave two descriptions.");
  }
  if (const auto name = missing_collection(lab.definition(), plugin.collections); !name.empty())
    throw CheckFailed(fmt::format("The definition names the collection \"{}\", which describe() does not.", name));
  lab.watch(first, "describe()");
}

void check_verify(Lab& lab, const std::string&) {
  const auto first = verify(lab), second = verify(lab);
  for (const auto* answer : {&first, &second}) {
    if (answer->failure()) throw CheckFailed(fmt::format("It failed: {}", in_words(*answer->failure())));
  }
  const auto& id = first.value()->account_id;
  if (second.value()->account_id != id)
    throw CheckFailed(fmt::format("It answered {} and then {}.", printable(id), printable(second.value()->account_id)));
  const auto& wanted = lab.bench().kit().account;
  if (!wanted.empty() && id != wanted)
    throw CheckFailed(fmt::format("It answered {}, and the manifest says {}.", printable(id), printable(wanted)));
}

void check_verify_refused(Lab& lab, const std::string&) {
  requests_of_verify(lab);
  lab.faults().arm({Fault::kTokenRefused, 1, 0});
  const auto answer = verify(lab);
  if (!answer.failure()) throw CheckFailed("It named an account although the service refused the token.");
  if (answer.failure()->status != KRUX_AUTH)
    throw CheckFailed(fmt::format("It failed with {}", in_words(*answer.failure())));
}

void check_verify_faults(Lab& lab, const std::string&) {
  const auto requests = requests_of_verify(lab);
  const auto good = verify(lab);
  if (!good.value()) throw CheckFailed(fmt::format("It failed: {}", in_words(*good.failure())));
  for (const auto fault : {Fault::kAnswerLost, Fault::kNotSent, Fault::kCutOff, Fault::kServerError, Fault::kTruncated,
                           Fault::kNotJson, Fault::kWrongTypes, Fault::kWrongInside, Fault::kEmpty, Fault::kHuge}) {
    for (std::size_t at = 1; at <= requests; ++at) {
      lab.faults().arm({fault, at, 1});
      const auto answer = verify(lab);
      if (answer.value() && answer.value()->account_id != good.value()->account_id)
        throw CheckFailed(
            fmt::format("When {}, it named the account {}.", in_words(fault), printable(answer.value()->account_id)));
      if (answer.failure() && answer.failure()->status == KRUX_AUTH)
        throw CheckFailed(fmt::format("When {}, it said that the token is refused: {}", in_words(fault),
                                      in_words(*answer.failure())));
    }
  }
}

void check_verify_in_time(Lab& lab, const std::string&) {
  requests_of_verify(lab);
  CallOptions options;
  options.deadline_ms = 300;
  lab.faults().arm({Fault::kHang, 1, 0});
  if (verify(lab, options).value()) throw CheckFailed("It named an account although the service did not answer.");
}

void check_revoke(Lab& lab, const std::string&) {
  const auto adapter = lab.adapter();
  if (!adapter->roles().account) throw not_applicable("the adapter has no account role");
  const auto revoke = [&] {
    return lab.call<bool>("revoke", {}, [adapter](const auto& call) { return adapter->ask<"revoke">(call); });
  };
  lab.faults().arm({Fault::kServerError, 1, 0});
  const auto disturbed = revoke();
  if (disturbed.failure() && disturbed.failure()->status == KRUX_UNSUPPORTED)
    throw not_applicable("the adapter says that the service cannot revoke tokens");
  if (disturbed.value()) throw CheckFailed("When the service answered with 500, it said that the token is revoked.");
  lab.faults().clear();
  const auto done = revoke();
  if (done.failure()) throw CheckFailed(fmt::format("It failed: {}", in_words(*done.failure())));
  const auto after = verify(lab);
  if (after.value())
    throw CheckFailed("It said that the token is revoked, and the service still takes it: verify names an account.");
  if (after.failure()->status != KRUX_AUTH)
    throw CheckFailed(fmt::format("Afterwards verify failed with {}", in_words(*after.failure())));
}

}  // namespace krux::certify
