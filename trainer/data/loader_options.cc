#include "trainer/data/loader_options.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include "trainer/accelerator.h"

// From libgomp, which libtorch links. Only g++ ships its header.
extern "C" void omp_set_num_threads(int threads);

namespace trainyard {

void CheckLoaderOptions(const char* loader, const LoaderOptions& options) {
  TORCH_CHECK_VALUE(options.batch_size >= 1, loader, ": batch_size is ",
                    options.batch_size, "; it must be at least 1");
  TORCH_CHECK_VALUE(options.num_ranks >= 1, loader, ": num_ranks is ",
                    options.num_ranks, "; it must be at least 1");
  TORCH_CHECK_VALUE(options.rank >= 0 && options.rank < options.num_ranks,
                    loader, ": rank is ", options.rank,
                    "; it must be at least 0 and below num_ranks, which is ",
                    options.num_ranks);
  TORCH_CHECK_VALUE(options.num_workers >= 0, loader, ": num_workers is ",
                    options.num_workers, "; it must be at least 0");
  TORCH_CHECK_VALUE(!options.prefetch || *options.prefetch >= 1, loader,
                    ": prefetch is ", options.prefetch.value_or(0),
                    "; it must be at least 1, or unset");
  TORCH_CHECK_VALUE(!options.pin_memory || AcceleratorType(), loader,
                    ": pin_memory is set, but there is no accelerator to copy "
                    "to; leave it unset");
}

int64_t PrefetchOf(const LoaderOptions& options) {
  return options.prefetch.value_or(2 * options.num_workers);
}

void UseOneThreadHere() {
  at::get_num_threads();  // sets this thread up, which would undo it later
  omp_set_num_threads(1);
}

}  // namespace trainyard
