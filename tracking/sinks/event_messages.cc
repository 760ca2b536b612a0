#include "tracking/sinks/event_messages.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "tracking/sinks/png.h"

namespace trainyard {
namespace {

// Field numbers of TensorBoard's messages, as far as we write them.
namespace event {
constexpr int kTime = 1, kStep = 2, kVersion = 3, kSummary = 5;
}
namespace summary {
constexpr int kValue = 1;
constexpr int kTag = 1, kNumber = 2, kImage = 4, kHistogram = 5, kTensor = 8,
              kMetadata = 9;
}  // namespace summary
namespace hparams {
constexpr int kExperiment = 2, kSessionStart = 3;
constexpr int kInfo = 4, kMetric = 5;          // of an experiment
constexpr int kName = 1, kType = 4, kTag = 2;  // of infos and metrics
constexpr int kValues = 1, kStartTime = 5;     // of a session's start
}  // namespace hparams

WireMessage Value(std::string_view tag) {
  WireMessage value;
  value.AddBytes(summary::kTag, tag);
  return value;
}

WireMessage Metadata(std::string_view plugin, std::string_view content) {
  WireMessage data;
  data.AddBytes(1, plugin);
  if (!content.empty()) data.AddBytes(2, content);
  WireMessage metadata;
  metadata.AddMessage(1, data);
  return metadata;
}

void Append(WireMessage& all, const tracking::Row& row) {
  for (const auto& [name, number] : row) {
    WireMessage value = Value(name);
    value.AddFloat(summary::kNumber, static_cast<float>(number));
    all.AddMessage(summary::kValue, value);
  }
}

void Append(WireMessage& all, const tracking::Histogram& histogram) {
  WireMessage message;
  message.AddDouble(1, histogram.min);
  message.AddDouble(2, histogram.max);
  message.AddDouble(3, histogram.count);
  message.AddDouble(4, histogram.sum);
  message.AddDouble(5, histogram.sum_of_squares);
  message.AddDoubles(6, histogram.upper_limits);
  message.AddDoubles(7, histogram.counts);
  WireMessage value = Value(histogram.name);
  value.AddMessage(summary::kHistogram, message);
  all.AddMessage(summary::kValue, value);
}

void Append(WireMessage& all, const tracking::Image& image) {
  WireMessage message;
  message.AddInteger(1, image.height);
  message.AddInteger(2, image.width);
  message.AddInteger(3, image.channels);
  message.AddBytes(4, ToPng(image));
  WireMessage value = Value(image.name);
  value.AddMessage(summary::kImage, message);
  all.AddMessage(summary::kValue, value);
}

void Append(WireMessage& all, const tracking::Text& text) {
  constexpr int kString = 7;
  WireMessage size;
  size.AddInteger(1, 1);
  WireMessage shape;
  shape.AddMessage(2, size);
  WireMessage tensor;
  tensor.AddInteger(1, kString);
  tensor.AddMessage(2, shape);
  tensor.AddBytes(8, text.text);
  // The tag that TensorBoard's own writers of texts use.
  WireMessage value = Value(text.name + "/text_summary");
  value.AddMessage(summary::kTensor, tensor);
  value.AddMessage(summary::kMetadata, Metadata("text", ""));
  all.AddMessage(summary::kValue, value);
}

// A value of protobuf's own Struct, and the number of its type in TensorBoard.
struct AnyValue {
  WireMessage message;
  int type;
};

AnyValue ToAny(const std::variant<double, bool, std::string>& value) {
  AnyValue any;
  if (const double* number = std::get_if<double>(&value)) {
    any.type = 3;
    any.message.AddDouble(2, *number);
  } else if (const bool* flag = std::get_if<bool>(&value)) {
    any.type = 2;
    any.message.AddInteger(4, *flag ? 1 : 0);
  } else {
    any.type = 1;
    any.message.AddBytes(3, std::get<std::string>(value));
  }
  return any;
}

void AppendHParams(WireMessage& all, const char* tag, int field,
                   const WireMessage& message) {
  WireMessage content;
  content.AddMessage(field, message);
  WireMessage value = Value(tag);
  value.AddMessage(summary::kMetadata, Metadata("hparams", content.bytes()));
  all.AddMessage(summary::kValue, value);
}

void Append(WireMessage& all, const tracking::HyperParameters& settings,
            double time) {
  WireMessage experiment;
  WireMessage start;
  for (const auto& [name, value] : settings.values) {
    const AnyValue any = ToAny(value);
    WireMessage info;
    info.AddBytes(hparams::kName, name);
    info.AddInteger(hparams::kType, any.type);
    experiment.AddMessage(hparams::kInfo, info);
    WireMessage entry;
    entry.AddBytes(1, name);
    entry.AddMessage(2, any.message);
    start.AddMessage(hparams::kValues, entry);
  }
  for (const std::string& metric : settings.metrics) {
    WireMessage name;
    name.AddBytes(hparams::kTag, metric);
    WireMessage info;
    info.AddMessage(hparams::kName, name);
    experiment.AddMessage(hparams::kMetric, info);
  }
  start.AddDouble(hparams::kStartTime, time);
  AppendHParams(all, "_hparams_/experiment", hparams::kExperiment, experiment);
  AppendHParams(all, "_hparams_/session_start_info", hparams::kSessionStart,
                start);
}

}  // namespace

WireMessage EventMessage(const tracking::Record& record) {
  WireMessage all;
  if (const auto* settings =
          std::get_if<tracking::HyperParameters>(&record.what)) {
    Append(all, *settings, record.time);
  } else if (const auto* row = std::get_if<tracking::Row>(&record.what)) {
    Append(all, *row);
  } else if (const auto* histogram =
                 std::get_if<tracking::Histogram>(&record.what)) {
    Append(all, *histogram);
  } else if (const auto* image = std::get_if<tracking::Image>(&record.what)) {
    Append(all, *image);
  } else {
    Append(all, std::get<tracking::Text>(record.what));
  }
  WireMessage message;
  message.AddDouble(event::kTime, record.time);
  message.AddInteger(event::kStep, record.step);
  message.AddMessage(event::kSummary, all);
  return message;
}

WireMessage VersionMessage(double time) {
  WireMessage message;
  message.AddDouble(event::kTime, time);
  message.AddBytes(event::kVersion, "brain.Event:2");
  return message;
}

}  // namespace trainyard
