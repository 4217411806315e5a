// Which system calls a confined program is refused: those that no program of an ordinary user needs and that reach into
// the kernel, or out of the namespaces.
#pragma once
#include "workspace/descriptor.hpp"

namespace confined {

/// A file in memory with the filter as bubblewrap takes it, to be read from its beginning. What is refused fails with
/// EPERM, sockets of other families than AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK with EAFNOSUPPORT (virtual machines
/// reach their host by AF_VSOCK, which no namespace of the network holds), calls of another architecture with ENOSYS.
/// Throws ProxyError kUnavailable, with no effect.
workspace::Descriptor call_filter();

}  // namespace confined
