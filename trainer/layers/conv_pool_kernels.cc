#include "trainer/layers/conv_pool_kernels.h"

#include <ATen/Version.h>

#include <string>

namespace trainyard {

#if defined(__x86_64__)
namespace {

// Everything is inlined into functions of one instruction set: the vectors of
// these types then are its registers.
#define TRAINYARD_INLINE [[gnu::always_inline]] inline

template <int kLanes>
struct Simd {
  using Floats [[gnu::vector_size(kLanes * 4)]] = float;
  using Ints [[gnu::vector_size(kLanes * 4)]] = int32_t;
  using Bytes [[gnu::vector_size(kLanes)]] = uint8_t;
};

// The built-in function, because the checked memcpy of _FORTIFY_SOURCE keeps
// vectors in memory instead of registers: forward then takes twice as long.
template <class Vector, class Element>
TRAINYARD_INLINE void Load(Vector& to, const Element* from) {
  __builtin_memcpy(&to, from, sizeof(to));
}

template <class Vector, class Element>
TRAINYARD_INLINE void Store(Element* to, const Vector& from) {
  __builtin_memcpy(to, &from, sizeof(from));
}

template <class Vector>
TRAINYARD_INLINE void Add(float* to, const Vector& values) {
  Vector before;
  Load(before, to);
  Store(to, before + values);
}

// The largest of four, or 0 if that is not positive. A value that is not a
// number wins.
template <int kLanes>
TRAINYARD_INLINE void Choose(const typename Simd<kLanes>::Floats (&values)[4],
                             float* output, uint8_t* chosen) {
  using S = Simd<kLanes>;
  typename S::Floats best = values[0];
  typename S::Ints at = {};
  for (int i = 1; i < 4; ++i) {
    const auto better = (values[i] > best) | (values[i] != values[i]);
    best = better ? values[i] : best;
    at = better ? typename S::Ints{} + i : at;
  }
  const auto cut = best <= 0.0F;
  best = cut ? typename S::Floats{} : best;
  at = cut ? typename S::Ints{} + kCut : at;
  Store(output, best);
  Store(chosen, __builtin_convertvector(at, typename S::Bytes));
}

// kPixels pooled pixels of a row, kVectors vectors of filters each.
template <int kLanes, int kPixels, int kVectors>
TRAINYARD_INLINE void ForwardTile(const ConvPoolShape& shape,
                                  const float* planes, const float* weight,
                                  const float* bias, float* output,
                                  uint8_t* chosen) {
  using Floats = typename Simd<kLanes>::Floats;
  Floats sums[kPixels][kVectors][4];
  for (int v = 0; v < kVectors; ++v) {
    Floats start;
    Load(start, bias + v * kLanes);
    for (int p = 0; p < kPixels; ++p) {
      for (int i = 0; i < 4; ++i) sums[p][v][i] = start;
    }
  }
  const int64_t row = shape.row();
  for (int64_t c = 0; c < shape.channels; ++c) {
    for (int tap = 0; tap < 9; ++tap) {
      Floats factors[kVectors];
      for (int v = 0; v < kVectors; ++v) {
        Load(factors[v], weight + tap * shape.padded_filters + v * kLanes);
      }
      for (int p = 0; p < kPixels; ++p) {
        for (int i = 0; i < 4; ++i) {
          const float x =
              planes[(i / 2 + tap / 3) * row + 2 * p + i % 2 + tap % 3];
          for (int v = 0; v < kVectors; ++v) sums[p][v][i] += x * factors[v];
        }
      }
    }
    planes += shape.plane();
    weight += 9 * shape.padded_filters;
  }
  for (int p = 0; p < kPixels; ++p) {
    for (int v = 0; v < kVectors; ++v) {
      const int64_t at = p * shape.padded_filters + v * kLanes;
      Choose<kLanes>(sums[p][v], output + at, chosen + at);
    }
  }
}

// One row of windows, for kVectors vectors of filters.
template <int kLanes, int kPixels, int kVectors>
TRAINYARD_INLINE void ForwardRow(const ConvPoolShape& shape,
                                 const float* planes, const float* weight,
                                 const float* bias, float* output,
                                 uint8_t* chosen) {
  const int64_t width = shape.pooled_width(), next = shape.padded_filters;
  int64_t x = 0;
  for (; x + kPixels <= width; x += kPixels) {
    ForwardTile<kLanes, kPixels, kVectors>(shape, planes + 2 * x, weight, bias,
                                           output + x * next,
                                           chosen + x * next);
  }
  for (; x < width; ++x) {
    ForwardTile<kLanes, 1, kVectors>(shape, planes + 2 * x, weight, bias,
                                     output + x * next, chosen + x * next);
  }
}

template <int kLanes, int kPixels1, int kPixels2>
TRAINYARD_INLINE void Forward(const ConvPoolShape& shape, const float* planes,
                              const float* weight, const float* bias,
                              float* output, uint8_t* chosen) {
  const int64_t filters = shape.padded_filters;
  for (int64_t y = 0; y < shape.height / 2; ++y) {
    int64_t f = 0;
    for (; f + 2 * kLanes <= filters; f += 2 * kLanes) {
      ForwardRow<kLanes, kPixels2, 2>(shape, planes, weight + f, bias + f,
                                      output + f, chosen + f);
    }
    if (f < filters) {
      ForwardRow<kLanes, kPixels1, 1>(shape, planes, weight + f, bias + f,
                                      output + f, chosen + f);
    }
    planes += 2 * shape.row();
    output += shape.pooled_width() * filters;
    chosen += shape.pooled_width() * filters;
  }
}

template <int kLanes>
TRAINYARD_INLINE void WeightGradientOfFew(const ConvPoolShape& shape,
                                          const float* planes,
                                          const float* grad,
                                          const uint8_t* chosen, float* weight,
                                          float* bias) {
  using S = Simd<kLanes>;
  using Floats = typename S::Floats;
  const int64_t row = shape.row(), filters = shape.padded_filters;
  for (int64_t c = 0; c < shape.channels; ++c) {
    for (int64_t f = 0; f < filters; f += kLanes) {
      Floats sums[9] = {}, sum = {};
      for (int64_t y = 0; y < shape.height / 2; ++y) {
        const float* x = planes + c * shape.plane() + 2 * y * row;
        const int64_t first = y * shape.pooled_width() * filters + f;
        for (int64_t i = 0; i < shape.pooled_width(); ++i, x += 2) {
          Floats g;
          typename S::Bytes bytes;
          Load(g, grad + first + i * filters);
          Load(bytes, chosen + first + i * filters);
          const auto at = __builtin_convertvector(bytes, typename S::Ints);
          for (int p = 0; p < 4; ++p) {
            const Floats part = at == p ? g : Floats{};
            sum += part;
            for (int tap = 0; tap < 9; ++tap) {
              sums[tap] += x[(p / 2 + tap / 3) * row + p % 2 + tap % 3] * part;
            }
          }
        }
      }
      for (int tap = 0; tap < 9; ++tap) {
        Add(weight + (c * 9 + tap) * filters + f, sums[tap]);
      }
      if (c == 0) Add(bias + f, sum);
    }
  }
}

// An element of a window that has a gradient.
struct Chosen {
  int64_t offset;  // of its first input
  float grad;
};

template <int kLanes>
TRAINYARD_INLINE void WeightGradient(const ConvPoolShape& shape,
                                     const float* image, const float* grad,
                                     const uint8_t* chosen, float* weight,
                                     float* bias) {
  using Floats = typename Simd<kLanes>::Floats;
  const int64_t channels = shape.padded_channels,
                filters = shape.padded_filters;
  const int64_t row = shape.row() * channels;
  const int64_t offsets[kCut + 1] = {0, channels, row, row + channels, 0};
  constexpr int64_t kMost = 256;
  Chosen list[kMost];
  const int64_t pooled = shape.pooled(), width = shape.pooled_width();
  for (int64_t first = 0; first < pooled; first += kMost) {
    const int64_t last = first + kMost < pooled ? first + kMost : pooled;
    for (int64_t f = 0; f < shape.filters; ++f) {
      int64_t count = 0;
      int64_t y = first / width, x = first % width;
      for (int64_t i = first; i < last; ++i) {
        const uint8_t at = chosen[i * filters + f];
        list[count] = {2 * (y * row + x * channels) + offsets[at],
                       grad[i * filters + f]};
        count += at != kCut;
        const bool wrap = ++x == width;
        x = wrap ? 0 : x;
        y += wrap;
      }
      float sum = 0;
      for (int64_t i = 0; i < count; ++i) sum += list[i].grad;
      bias[f] += sum;
      for (int64_t c = 0; c < channels; c += kLanes) {
        float* const to = weight + f * 9 * channels + c;
        Floats sums[9];
        for (int tap = 0; tap < 9; ++tap) Load(sums[tap], to + tap * channels);
        for (int64_t i = 0; i < count; ++i) {
          const float* const from = image + list[i].offset + c;
          for (int tap = 0; tap < 9; ++tap) {
            Floats value;
            Load(value, from + (tap / 3) * row + (tap % 3) * channels);
            sums[tap] += list[i].grad * value;
          }
        }
        for (int tap = 0; tap < 9; ++tap) Store(to + tap * channels, sums[tap]);
      }
    }
  }
}

template <int kLanes>
TRAINYARD_INLINE void InputGradient(const ConvPoolShape& shape,
                                    const float* weight, const float* grad,
                                    const uint8_t* chosen, float* result) {
  using Floats = typename Simd<kLanes>::Floats;
  const int64_t channels = shape.padded_channels,
                filters = shape.padded_filters;
  const int64_t row = shape.row() * channels;
  constexpr int64_t kMost = 256;
  int32_t lists[kCut + 1][kMost];
  for (int64_t y = 0; y < shape.height / 2; ++y) {
    for (int64_t x = 0; x < shape.pooled_width(); ++x) {
      for (int64_t first = 0; first < shape.filters; first += kMost) {
        const int64_t last =
            first + kMost < shape.filters ? first + kMost : shape.filters;
        // The lengths of the five lists, 12 bits each.
        uint64_t lengths = 0;
        for (int64_t f = first; f < last; ++f) {
          const uint8_t at = chosen[f];
          lists[at][(lengths >> (12 * at)) & 0xFFF] = static_cast<int32_t>(f);
          lengths += uint64_t{1} << (12 * at);
        }
        for (int p = 0; p < 4; ++p) {
          const int64_t count =
              static_cast<int64_t>(lengths >> (12 * p)) & 0xFFF;
          float* const window = result + 2 * (y * row + x * channels) +
                                (p / 2) * row + (p % 2) * channels;
          for (int64_t c = 0; c < channels; c += kLanes) {
            Floats sums[9];
            for (int tap = 0; tap < 9; ++tap) {
              Load(sums[tap],
                   window + (tap / 3) * row + (tap % 3) * channels + c);
            }
            for (int64_t i = 0; i < count; ++i) {
              const int64_t f = lists[p][i];
              const float* const factors = weight + f * 9 * channels + c;
              for (int tap = 0; tap < 9; ++tap) {
                Floats factor;
                Load(factor, factors + tap * channels);
                sums[tap] += grad[f] * factor;
              }
            }
            for (int tap = 0; tap < 9; ++tap) {
              Store(window + (tap / 3) * row + (tap % 3) * channels + c,
                    sums[tap]);
            }
          }
        }
      }
      grad += filters;
      chosen += filters;
    }
  }
}

// The pixels of a tile fill the registers: 16 of AVX2, 32 of AVX-512.
#define TRAINYARD_KERNELS(NAME, TARGET, LANES, PIXELS_1, PIXELS_2)             \
  namespace NAME {                                                             \
  [[gnu::target(TARGET)]] void RunForward(const ConvPoolShape& shape,          \
                                          const float* planes,                 \
                                          const float* weight,                 \
                                          const float* bias, float* output,    \
                                          uint8_t* chosen) {                   \
    Forward<LANES, PIXELS_1, PIXELS_2>(shape, planes, weight, bias, output,    \
                                       chosen);                                \
  }                                                                            \
  [[gnu::target(TARGET)]] void RunWeightGradientOfFew(                         \
      const ConvPoolShape& shape, const float* planes, const float* grad,      \
      const uint8_t* chosen, float* weight, float* bias) {                     \
    WeightGradientOfFew<LANES>(shape, planes, grad, chosen, weight, bias);     \
  }                                                                            \
  [[gnu::target(TARGET)]] void RunWeightGradient(const ConvPoolShape& shape,   \
                                                 const float* image,           \
                                                 const float* grad,            \
                                                 const uint8_t* chosen,        \
                                                 float* weight, float* bias) { \
    WeightGradient<LANES>(shape, image, grad, chosen, weight, bias);           \
  }                                                                            \
  [[gnu::target(TARGET)]] void RunInputGradient(const ConvPoolShape& shape,    \
                                                const float* weight,           \
                                                const float* grad,             \
                                                const uint8_t* chosen,         \
                                                float* result) {               \
    InputGradient<LANES>(shape, weight, grad, chosen, result);                 \
  }                                                                            \
  constexpr ConvPoolKernels kKernels = {LANES, RunForward,                     \
                                        RunWeightGradientOfFew,                \
                                        RunWeightGradient, RunInputGradient};  \
  }

TRAINYARD_KERNELS(avx2, "avx2,fma", 8, 3, 1)
TRAINYARD_KERNELS(avx512, "avx512f,avx512bw,avx512dq,avx512vl,fma", 16, 6, 3)

}  // namespace

const ConvPoolKernels* Avx2ConvPoolKernels() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
             ? &avx2::kKernels
             : nullptr;
}

const ConvPoolKernels* Avx512ConvPoolKernels() {
  return __builtin_cpu_supports("avx512f") &&
                 __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512dq") &&
                 __builtin_cpu_supports("avx512vl")
             ? &avx512::kKernels
             : nullptr;
}

#else

const ConvPoolKernels* Avx2ConvPoolKernels() { return nullptr; }
const ConvPoolKernels* Avx512ConvPoolKernels() { return nullptr; }

#endif

const ConvPoolKernels* FastestConvPoolKernels() {
  static const ConvPoolKernels* const kKernels = [] {
    const std::string use = at::get_cpu_capability();
    if (use == "AVX512") return Avx512ConvPoolKernels();
    return use == "AVX2" ? Avx2ConvPoolKernels() : nullptr;
  }();
  return kKernels;
}

}  // namespace trainyard
