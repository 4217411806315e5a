#include "names.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <kruxos/adapter/error.hpp>

#include <algorithm>
#include <array>
#include <memory>

namespace network {

std::vector<std::string> look_up_by_system(const std::string& name) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  const int error = getaddrinfo(name.c_str(), nullptr, &hints, &first);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(first, [](addrinfo* list) {
    if (list) freeaddrinfo(list);
  });
  if (error == EAI_NONAME || error == EAI_NODATA)
    throw kruxos::ProxyError(kruxos::ErrorKind::kNotFound, "There is no address of the name " + name + ".")
        .type("NameNotFound");
  if (error != 0)
    throw kruxos::ProxyError(kruxos::ErrorKind::kUnavailable,
                             "The name " + name + " could not be looked up: " + gai_strerror(error) + ".");
  std::vector<std::string> addresses;
  for (const auto* at = all.get(); at; at = at->ai_next) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* bytes = nullptr;
    if (at->ai_family == AF_INET) bytes = &reinterpret_cast<const sockaddr_in*>(at->ai_addr)->sin_addr;
    if (at->ai_family == AF_INET6) bytes = &reinterpret_cast<const sockaddr_in6*>(at->ai_addr)->sin6_addr;
    if (!bytes || !inet_ntop(at->ai_family, bytes, text.data(), text.size())) continue;
    if (std::find(addresses.begin(), addresses.end(), text.data()) == addresses.end())
      addresses.emplace_back(text.data());
  }
  return addresses;
}

}  // namespace network
