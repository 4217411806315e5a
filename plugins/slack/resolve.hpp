// From what people and agents call things to what Slack calls them, by the replica alone.
#pragma once

#include <kruxos/adapter.hpp>

#include <string>
#include <string_view>

namespace slack {

/// Why the caller's arguments are not accepted.
kruxos::ProxyError invalid(const std::string& message);

/// The channel's id for an id or a name, with or without '#'; empty when the replica has neither.
std::string find_channel(const kruxos::Reader& reader, std::string_view channel);

/// Replaces a channel's name by its id, a message's id by its channel and timestamp, a reply's thread_ts by its
/// thread's, and a reaction's ":name:" by its bare name.
std::string resolve_params(const kruxos::Reader& reader, std::string_view operation, std::string_view params_json);

}  // namespace slack
