// The checkpoint tool on runs of sharded backends, whose checkpoints have
// slices of tensors in one file per rank.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "backends/make_backend.h"
#include "backends/processes/run_ranks.h"
#include "tools/inspect/testing/run_tool.h"
#include "trainer/checkpoint/safetensors/safetensors.h"
#include "trainer/checkpoint/testing/sample_checkpoint.h"
#include "trainer/data/tensor_dataset.h"
#include "trainer/losses.h"
#include "trainer/optim/adamw.h"
#include "trainer/supervised.h"
#include "trainer/testing/modules.h"
#include "trainer/trainer.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Trains on two ranks and saves after each of three updates. Returns the newest
// checkpoint. The slices of the weight have 48 and 24 elements; those of the
// bias 3 and none.
std::string Train(const std::string& backend_name, const std::string& folder) {
  const at::Tensor x = at::arange(24 * 24, at::kFloat).sin().reshape({24, 24});
  const DatasetPtr data =
      MakeTensorDataset(Example{x, x.narrow(1, 0, 3).mul(2)});
  RunRanks(2, [&](const Rendezvous& rendezvous) {
    const auto backend = MakeBackend(backend_name, {.rendezvous = rendezvous});
    TestLinear net(24, 3);
    {
      const at::NoGradGuard no_gradients;
      net["weight"].copy_(at::arange(72, at::kFloat).cos().reshape({3, 24}));
      net["bias"].zero_();
    }
    AdamW optimizer(*net, {.lr = 0.05});
    Trainer trainer(Supervised(net, MeanSquaredError()), optimizer, *backend,
                    {.default_callbacks = false});
    trainer.Train(
        {.data = data,
         .length = Updates(3),
         .per_device_batch_size = 4,
         .checkpoint = {.directory = folder, .save = Every(Updates(1))},
         .handle_signals = false});
  });
  return folder + "/step-0000000003";
}

std::vector<NamedTensor> Exported(const std::string& checkpoint,
                                  const std::string& group) {
  const std::string folder = checkpoint + "-" + group;
  const ToolOutcome exported =
      RunTool({"export", checkpoint, folder, "--group=" + group});
  EXPECT_EQ(exported.code, 0) << exported.err;
  EXPECT_THAT(NamesIn(folder), ElementsAre(group + ".safetensors"));
  const auto read = ReadSafetensors(folder + "/" + group + ".safetensors");
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? read->tensors : std::vector<NamedTensor>();
}

TEST(ShardedCheckpointTest, ExportsWhatDdpExports) {
  const std::string folder = TestFolder();
  const std::string ddp = Train("ddp", folder + "/ddp");
  for (const std::string backend : {"zero1", "zero2", "fsdp"}) {
    const std::string zero = Train(backend, folder + "/" + backend);
    EXPECT_THAT(NamesIn(zero),
                ::testing::Contains("optimizer-slices-r00001.safetensors"));
    for (const std::string group : {"model", "optimizer"}) {
      SCOPED_TRACE(backend + ", " + group);
      const std::vector<NamedTensor> expected = Exported(ddp, group);
      const std::vector<NamedTensor> actual = Exported(zero, group);
      ASSERT_EQ(actual.size(), expected.size());
      EXPECT_EQ(actual.size(), group == "model" ? 2 : 6);
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(actual[i].name, expected[i].name);
        // Two ranks add up in either order to the same bits.
        EXPECT_TRUE(actual[i].tensor.equal(expected[i].tensor))
            << actual[i].name;
      }
    }
  }
}

TEST(ShardedCheckpointTest, EverySubcommandReadsSlices) {
  const std::string folder = TestFolder();
  const std::string step = Train("zero1", folder + "/run");
  EXPECT_THAT(RunTool({"show", step}).out,
              AllOf(HasSubstr("written by 2 processes"),
                    HasSubstr("\"weight/exp_avg\": Float [3, 24] min "),
                    HasSubstr("\"bias/exp_avg\": Float [3] min ")));
  EXPECT_EQ(RunTool({"diff", step, step}).out, "equal, bit for bit\n");
  const ToolOutcome diff =
      RunTool({"diff", folder + "/run/step-0000000002", folder + "/run"});
  EXPECT_EQ(diff.code, 1);
  EXPECT_THAT(diff.out, HasSubstr("optimizer \"weight/exp_avg\": 72 of 72 "));
  EXPECT_EQ(RunTool({"verify", folder + "/run"}).code, 0);
  EXPECT_EQ(RunTool({"list", folder + "/run"}).code, 0);
}

TEST(ShardedCheckpointTest, NamesASliceFileThatIsMissing) {
  const std::string folder = TestFolder();
  const std::string step = Train("zero2", folder + "/run");
  const std::string missing = step + "/optimizer-slices-r00001.safetensors";
  ASSERT_TRUE(std::filesystem::remove(missing));
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{
           {"export", step, folder + "/out"},
           {"export", step, folder + "/out", "--group=optimizer"},
           {"show", step},
           {"diff", step, step}}) {
    const ToolOutcome outcome = RunTool(arguments);
    EXPECT_EQ(outcome.code, 1) << arguments[0];
    EXPECT_THAT(outcome.err, HasSubstr(missing + ": ")) << arguments[0];
  }
  EXPECT_FALSE(std::filesystem::exists(folder + "/out"));
  for (const std::string command : {"list", "verify"}) {
    const ToolOutcome outcome = RunTool({command, folder + "/run"});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.out, HasSubstr("DAMAGED " + missing + ": "));
  }
  // The run's newest checkpoint that is not damaged; the other one is named.
  const ToolOutcome older =
      RunTool({"export", folder + "/run", folder + "/out"});
  EXPECT_EQ(older.code, 0);
  EXPECT_THAT(older.err, HasSubstr(missing + ": cannot be opened: No such"));
}

}  // namespace
}  // namespace trainyard
