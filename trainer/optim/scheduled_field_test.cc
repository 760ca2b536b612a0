#include "trainer/optim/scheduled_field.h"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "schedulers/constant.h"
#include "schedulers/cosine.h"
#include "schedulers/per_group.h"
#include "trainer/optim/adamw.h"

namespace trainyard {
namespace {

class Halving final : public Schedule {
 public:
  double ValueAt(int64_t update, double base) const override {
    return base / static_cast<double>(int64_t{1} << update);
  }
};

std::unique_ptr<Schedule> Halve(const RunLength&) {
  return std::make_unique<Halving>();
}

at::Tensor Parameter() { return at::ones({2}).requires_grad_(); }

TEST(ScheduledFieldTest, HeaderExample) {
  AdamW optimizer({Parameter()}, {.lr = 1});
  const RunLength run = {.total_updates = 100};
  const int64_t update = 50;
  ScheduledField lr(optimizer, "lr", Cosine(), run);
  lr.Apply(update);  // before update number `update`, counted from 0
  EXPECT_NEAR(optimizer.Field(0, "lr"), 0.5, 1e-12);
}

TEST(ScheduledFieldTest, EachGroupStartsFromItsOwnValue) {
  AdamW optimizer({{.params = {{"a", Parameter()}}},
                   {.params = {{"b", Parameter()}}, .overrides = {{"lr", 8}}}},
                  {.lr = 1});
  ScheduledField lr(optimizer, "lr", Halve, {});
  lr.Apply(2);
  lr.Apply(1);
  EXPECT_EQ(optimizer.Field(0, "lr"), 0.5);
  EXPECT_EQ(optimizer.Field(1, "lr"), 4);
  lr.Restore();
  EXPECT_EQ(optimizer.Field(0, "lr"), 1);
  EXPECT_EQ(optimizer.Field(1, "lr"), 8);
}

TEST(ScheduledFieldTest, AnAddedGroupGetsTheLastSchedule) {
  AdamW optimizer({{.params = {{"a", Parameter()}}}}, {.lr = 1});
  ScheduledField lr(optimizer, "lr", Halve, {});
  lr.Apply(1);
  optimizer.AddGroup(
      {.params = {{"b", Parameter()}}, .overrides = {{"lr", 8}}});
  optimizer.Field(1, "lr") = 4;  // as a checkpoint would restore it
  lr.Apply(2);
  EXPECT_EQ(optimizer.Field(0, "lr"), 0.25);
  EXPECT_EQ(optimizer.Field(1, "lr"), 2);
  lr.Restore();
  EXPECT_EQ(optimizer.Field(1, "lr"), 8);
}

TEST(ScheduledFieldTest, AnyFieldCanBeScheduled) {
  AdamW optimizer({Parameter()}, {.weight_decay = 0.4});
  ScheduledField(optimizer, "weight_decay", Halve, {}).Apply(2);
  EXPECT_EQ(optimizer.Field(0, "weight_decay"), 0.1);
}

TEST(ScheduledFieldTest, RejectsAnUnknownField) {
  AdamW optimizer({Parameter()});
  EXPECT_THROW(ScheduledField(optimizer, "momentum", Halve, {}),
               c10::ValueError);
}

TEST(ScheduledFieldTest, EachGroupCanHaveItsOwnSchedule) {
  AdamW optimizer(
      {{.params = {{"a", Parameter()}}}, {.params = {{"b", Parameter()}}}},
      {.lr = 8});
  ScheduledField lr(optimizer, "lr", PerGroup({Halve, Constant()}), {});
  lr.Apply(2);
  EXPECT_EQ(optimizer.Field(0, "lr"), 2);
  EXPECT_EQ(optimizer.Field(1, "lr"), 8);
  EXPECT_THROW(ScheduledField(optimizer, "lr", PerGroup({Halve}), {}),
               std::invalid_argument);
}

}  // namespace
}  // namespace trainyard
