#include "backends/processes/own_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "backends/processes/listening_socket.h"

namespace trainyard {
namespace {

// An address of no machine, reserved for documents: leads to the default route.
constexpr char kElsewhere[] = "192.0.2.1";
constexpr char kLoopback[] = "127.0.0.1";

OwnAddress WithAddress(const std::vector<OwnAddress>& all,
                       const std::string& address) {
  const auto found = std::find_if(
      all.begin(), all.end(),
      [&](const OwnAddress& own) { return own.address == address; });
  return found == all.end() ? OwnAddress{"?", address} : *found;
}

OwnAddress OnInterface(const std::vector<OwnAddress>& all,
                       const std::string& name) {
  std::string names;
  for (const OwnAddress& own : all) {
    if (own.interface == name) return own;
    names += (names.empty() ? "" : ", ") + own.interface;
  }
  throw std::invalid_argument("Rendezvous: there is no interface \"" + name +
                              "\" with an address on this machine; there are " +
                              names);
}

OwnAddress NotLoopback(const std::vector<OwnAddress>& all) {
  try {
    const std::string address = AddressTowards(kElsewhere);
    if (!IsLoopback(address)) return WithAddress(all, address);
  } catch (const std::runtime_error&) {
    // There is no default route.
  }
  for (const OwnAddress& own : all) {
    if (!IsLoopback(own.address)) return own;
  }
  return WithAddress(all, kLoopback);
}

}  // namespace

std::vector<OwnAddress> OwnAddresses() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) {
    throw std::system_error(errno, std::generic_category(), "getifaddrs");
  }
  std::vector<OwnAddress> all;
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0) continue;
    const int family = one->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    char text[NI_MAXHOST];
    if (getnameinfo(
            one->ifa_addr,
            family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6),
            text, sizeof(text), nullptr, 0, NI_NUMERICHOST) == 0) {
      all.push_back({one->ifa_name, text});
    }
  }
  freeifaddrs(first);
  // IPv4 first, as programs resolve names.
  std::stable_partition(all.begin(), all.end(), [](const OwnAddress& own) {
    return own.address.find(':') == std::string::npos;
  });
  return all;
}

OwnAddress ChooseOwnAddress(const Rendezvous& rendezvous) {
  const std::vector<OwnAddress> all = OwnAddresses();
  if (rendezvous.interface) return OnInterface(all, *rendezvous.interface);
  if (rendezvous.one_machine()) return WithAddress(all, kLoopback);
  const std::string address = AddressTowards(rendezvous.address);
  return IsLoopback(address) ? NotLoopback(all) : WithAddress(all, address);
}

std::string DescribePlace(const Rendezvous& rendezvous, const OwnAddress& own) {
  const auto of = [](int64_t one, int64_t all) {
    return std::to_string(one) + " of " + std::to_string(all);
  };
  return "rank " + of(rendezvous.rank, rendezvous.world_size) +
         (rendezvous.launcher.empty() ? "" : " (" + rendezvous.launcher + ")") +
         ": local rank " +
         of(rendezvous.local_rank, rendezvous.local_world_size) +
         ", store at " + rendezvous.address + ":" +
         std::to_string(rendezvous.port) + ", messages over " + own.interface +
         " (" + own.address + ")";
}

}  // namespace trainyard
