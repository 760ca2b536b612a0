#include "callbacks/callback.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <typeinfo>

namespace trainyard {

std::string Callback::name() const {
  const char* mangled = typeid(*this).name();
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr), &std::free);
  std::string name = readable ? readable.get() : mangled;
  // Namespaces only make a table wider.
  for (const std::string_view noise :
       {"trainyard::", "(anonymous namespace)::"}) {
    for (size_t at = name.find(noise); at != std::string::npos;
         at = name.find(noise)) {
      name.erase(at, noise.size());
    }
  }
  return name;
}

}  // namespace trainyard
