// Random numbers of one sample in one epoch: a function of (seed, epoch, index)
// and of how many were taken before, of nothing else. So what is random about a
// sample is the same on every worker and rank, and after every resume.
//
//   SampleRandom random(SampleKey(/*seed=*/1, /*epoch=*/0, /*index=*/17));
//   const bool flip = random.Chance(0.5);
//   const int64_t left = random.Below(9);
//
// The numbers are ours, not the standard library's: they are equal on all
// platforms. Free of libtorch.
//
// Thread-compatible.
#ifndef TRAINYARD_TRAINER_DATA_SAMPLE_RANDOM_H_
#define TRAINYARD_TRAINER_DATA_SAMPLE_RANDOM_H_

#include <cstdint>

namespace trainyard {

// Well mixed: of neighbouring numbers they have nothing in common.
uint64_t EpochKey(uint64_t seed, int64_t epoch);
uint64_t SampleKey(uint64_t seed, int64_t epoch, int64_t index);

class SampleRandom {
 public:
  explicit SampleRandom(uint64_t key) : state_(key) {}

  // 64 random bits.
  uint64_t Bits();
  // In [0, 1), and in [low, high).
  double Uniform();
  double Uniform(double low, double high);
  // One of 0, 1, …, end - 1, each with the same chance. REQUIRES: end >= 1.
  int64_t Below(int64_t end);
  // True with the given probability.
  bool Chance(double probability) { return Uniform() < probability; }
  // Of mean 0 and standard deviation 1.
  double Normal();
  // In [0, 1], of the beta distribution. REQUIRES: a > 0, b > 0.
  double Beta(double a, double b);

 private:
  double Gamma(double shape);

  uint64_t state_;
};

}  // namespace trainyard

#endif  // TRAINYARD_TRAINER_DATA_SAMPLE_RANDOM_H_
