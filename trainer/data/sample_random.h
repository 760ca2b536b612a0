// SampleRandom gives the random numbers of one sample in one epoch. They depend
// on (seed, epoch, index) and on how many were drawn before, and on nothing
// else: they are equal on every worker and rank, and after a resume.
//
//   SampleRandom random(SampleKey(/*seed=*/1, /*epoch=*/0, /*index=*/17));
//   const bool flip = random.Chance(0.5);
//   const int64_t left = random.Below(9);
//
// The generator and the distributions are this library's own, so the numbers
// are equal on all platforms. Free of libtorch.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_DATA_SAMPLE_RANDOM_H_
#define TRAINYARD_TRAINER_DATA_SAMPLE_RANDOM_H_

#include <cstdint>

namespace trainyard {

// Hashes: keys of neighbouring epochs or samples are unrelated.
uint64_t EpochKey(uint64_t seed, int64_t epoch);
uint64_t SampleKey(uint64_t seed, int64_t epoch, int64_t index);

class SampleRandom {
 public:
  explicit SampleRandom(uint64_t key) : state_(key) {}

  // 64 random bits.
  uint64_t Bits();
  // Uniform in [0, 1), and in [low, high).
  double Uniform();
  double Uniform(double low, double high);
  // Uniform among 0, 1, …, end - 1. REQUIRES: end >= 1.
  int64_t Below(int64_t end);
  // True with the given probability.
  bool Chance(double probability) { return Uniform() < probability; }
  // Normal with mean 0 and standard deviation 1.
  double Normal();
  // Beta distributed, in [0, 1]. REQUIRES: a > 0, b > 0.
  double Beta(double a, double b);

 private:
  double Gamma(double shape);

  uint64_t state_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_SAMPLE_RANDOM_H_
