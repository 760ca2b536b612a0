// EventMessage turns a record into the message that TensorBoard reads from its
// event files, as bytes (see event.proto).
//
//   const std::string bytes = EventMessage(
//       {.step = 300, .time = 1.5, .what = tracking::Row{{"loss", 0.1}}});
//
// Numbers become 32-bit floats, as TensorBoard's are. Thread-safe.
#ifndef TRAINYARD_TRACKING_SINKS_EVENT_MESSAGES_H_
#define TRAINYARD_TRACKING_SINKS_EVENT_MESSAGES_H_

#include <string>

#include "tracking/sinks/record.h"

namespace trainyard {

// Throws std::invalid_argument for an image whose number of pixels does not
// match its size.
std::string EventMessage(const tracking::Record& record);

// The first message of a file: the version of the format.
std::string VersionMessage(double time);

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_SINKS_EVENT_MESSAGES_H_
