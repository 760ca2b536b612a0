// RunConfig as a protobuf message, to be kept or sent.
//
//   const std::string bytes = ToProto(config).SerializeAsString();
//
// Thread-safe.
#ifndef TRAINYARD_TRAINER_RUN_CONFIG_PROTO_H_
#define TRAINYARD_TRAINER_RUN_CONFIG_PROTO_H_

#include "trainer/run_config.h"
#include "trainer/run_config.pb.h"

namespace trainyard {

proto::RunConfig ToProto(const RunConfig& config);
RunConfig FromProto(const proto::RunConfig& message);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_RUN_CONFIG_PROTO_H_
