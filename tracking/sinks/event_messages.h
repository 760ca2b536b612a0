// EventMessage turns a record into the protocol-buffer message that TensorBoard
// reads from its event files.
//
//   EventMessage(record).bytes();
//
// Numbers become 32-bit floats, as TensorBoard's are. Thread-safe.
#ifndef TRAINYARD_TRACKING_SINKS_EVENT_MESSAGES_H_
#define TRAINYARD_TRACKING_SINKS_EVENT_MESSAGES_H_

#include "tracking/sinks/record.h"
#include "tracking/sinks/wire.h"

namespace trainyard {

// Throws std::invalid_argument for an image whose pixels are not as many as it
// says.
WireMessage EventMessage(const tracking::Record& record);

// The first of every file: says which version of the format it is.
WireMessage VersionMessage(double time);

}  // namespace trainyard

#endif  // TRAINYARD_TRACKING_SINKS_EVENT_MESSAGES_H_
