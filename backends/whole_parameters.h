// WholeParameters makes all parameters of the prepared models whole on all
// ranks for its lifetime, also under a backend that shards them.
//
//   const WholeParameters whole(backend);
//   Evaluate(*model);
//
// Collective: all ranks must make and destroy it. Thread-compatible.
#ifndef TRAINYARD_BACKENDS_WHOLE_PARAMETERS_H_
#define TRAINYARD_BACKENDS_WHOLE_PARAMETERS_H_

#include "backends/backend.h"

namespace trainyard {

class WholeParameters {
 public:
  // Borrows the backend.
  explicit WholeParameters(Backend& backend) : backend_(backend) {
    backend_.GatherParameters();
  }
  ~WholeParameters() { backend_.ReleaseParameters(); }
  WholeParameters(const WholeParameters&) = delete;
  WholeParameters& operator=(const WholeParameters&) = delete;

 private:
  Backend& backend_;
};

}  // namespace trainyard

#endif  // TRAINYARD_BACKENDS_WHOLE_PARAMETERS_H_
