#include "trainer/data/datasets/mapped_samples.h"

#include <c10/util/Exception.h>

namespace trainyard {

std::vector<const char*> ReadAhead(const MappedFile& file,
                                   const SampleLayout& layout,
                                   const at::Tensor& indices) {
  const at::Tensor contiguous = indices.contiguous();
  const int64_t* const index = contiguous.const_data_ptr<int64_t>();
  std::vector<const char*> starts(static_cast<size_t>(contiguous.numel()));
  for (size_t row = 0; row < starts.size(); ++row) {
    TORCH_CHECK_INDEX(index[row] >= 0 && index[row] < layout.count, file.path(),
                      ": sample ", index[row], " of ", layout.count);
    const size_t offset =
        layout.first + static_cast<size_t>(index[row]) * layout.step;
    file.ReadAhead(offset, layout.bytes);
    starts[row] = file.data() + offset;
  }
  return starts;
}

}  // namespace trainyard
