// What the gateway adds to one call after the other.
#pragma once

#include "bench/search_pairs.hpp"

namespace krux::bench {

/// Prints rows of a call that finds `rare`, one after the other with as many bytes over the loopback, the same search
/// in this process, and the same search behind a bare socket. A thread that waits for a third of a millisecond wakes up
/// later than one that waits for a few microseconds: the bare socket's is the loopback's own part of such a call.
/// Over /rpc, and then over /mcp, whose answer says the same twice.
void added_latency_rows(const PairedSearch& rare, Clients& clients, int pairs);

}  // namespace krux::bench
