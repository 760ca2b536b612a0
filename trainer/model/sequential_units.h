// DeclareUnits makes each child of a torch::nn::Sequential a ModelUnit, without
// a change to its code:
//
//   torch::nn::Sequential net(…);
//   DeclareUnits(*net);
//
// Names of parameters and buffers stay as they are. Thread-compatible.
#ifndef TRAINYARD_TRAINER_MODEL_SEQUENTIAL_UNITS_H_
#define TRAINYARD_TRAINER_MODEL_SEQUENTIAL_UNITS_H_

namespace torch::nn {
class Module;
}  // namespace torch::nn

namespace trainyard {

// Children without parameters, and those that are units already, stay as they
// are. The others are put into a module that has their names and tensors, and
// calls them: so call it after Lora, which looks for layers by their type. Each
// of them takes one tensor and returns one. Throws c10::ValueError if the model
// is no torch::nn::Sequential.
void DeclareUnits(torch::nn::Module& sequential);

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_MODEL_SEQUENTIAL_UNITS_H_
