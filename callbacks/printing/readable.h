// Formats numbers for bars, tables and messages.
//
//   ReadableCount(12345);      // "12.3k"
//   ReadableSeconds(3725);     // "1:02:05"
//   ReadableValue(0.41237);    // "0.4124"
//
// Thread-safe.
#ifndef TRAINYARD_CALLBACKS_PRINTING_READABLE_H_
#define TRAINYARD_CALLBACKS_PRINTING_READABLE_H_

#include <string>

namespace trainyard {

// Three digits and a thousands suffix: "0.5", "87.2", "12.3k", "4.56M",
// "1.20G".
std::string ReadableCount(double count);

// "0:05", "12:34", "1:02:05", "3d 04:05"; "-:--" for an unknown time (negative
// or not finite).
std::string ReadableSeconds(double seconds);

// A metric: four decimals, or an exponent for very small and large values
// ("1.234e-05", "1.234e+06"). "0", "nan", "inf".
std::string ReadableValue(double value);

}  // namespace trainyard

#endif  // TRAINYARD_CALLBACKS_PRINTING_READABLE_H_
