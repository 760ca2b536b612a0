#include "tracking/sinks/event_messages.h"

#include <string>
#include <variant>

#include "tracking/sinks/event.pb.h"
#include "tracking/sinks/png.h"

namespace trainyard {
namespace {

void SetPlugin(events::Summary::Value& value, const char* plugin,
               const std::string& content = "") {
  auto& data = *value.mutable_metadata()->mutable_plugin_data();
  data.set_plugin_name(plugin);
  data.set_content(content);
}

void Append(events::Summary& summary, const tracking::Row& row) {
  for (const auto& [name, number] : row) {
    events::Summary::Value& value = *summary.add_value();
    value.set_tag(name);
    value.set_simple_value(static_cast<float>(number));
  }
}

void Append(events::Summary& summary, const tracking::Histogram& histogram) {
  events::Summary::Value& value = *summary.add_value();
  value.set_tag(histogram.name);
  events::SummaryHistogram& message = *value.mutable_histo();
  message.set_min(histogram.min);
  message.set_max(histogram.max);
  message.set_num(histogram.count);
  message.set_sum(histogram.sum);
  message.set_sum_squares(histogram.sum_of_squares);
  message.mutable_bucket_limit()->Add(histogram.upper_limits.begin(),
                                      histogram.upper_limits.end());
  message.mutable_bucket()->Add(histogram.counts.begin(),
                                histogram.counts.end());
}

void Append(events::Summary& summary, const tracking::Image& image) {
  events::Summary::Value& value = *summary.add_value();
  value.set_tag(image.name);
  events::SummaryImage& message = *value.mutable_image();
  message.set_height(static_cast<int32_t>(image.height));
  message.set_width(static_cast<int32_t>(image.width));
  message.set_colorspace(static_cast<int32_t>(image.channels));
  message.set_encoded_image_string(ToPng(image));
}

void Append(events::Summary& summary, const tracking::Text& text) {
  events::Summary::Value& value = *summary.add_value();
  // The tag that TensorBoard's own writers of texts use.
  value.set_tag(text.name + "/text_summary");
  events::Tensor& tensor = *value.mutable_tensor();
  tensor.set_dtype(events::Tensor::DT_STRING);
  tensor.mutable_tensor_shape()->add_dim()->set_size(1);
  tensor.add_string_val(text.text);
  SetPlugin(value, "text");
}

events::Experiment::DataType SetValue(
    events::SessionStart::Value& to,
    const std::variant<double, bool, std::string>& value) {
  if (const double* number = std::get_if<double>(&value)) {
    to.set_number_value(*number);
    return events::Experiment::DATA_TYPE_FLOAT64;
  }
  if (const bool* flag = std::get_if<bool>(&value)) {
    to.set_bool_value(*flag);
    return events::Experiment::DATA_TYPE_BOOL;
  }
  to.set_string_value(std::get<std::string>(value));
  return events::Experiment::DATA_TYPE_STRING;
}

void Append(events::Summary& summary, const tracking::HyperParameters& settings,
            double time) {
  events::HParamsData experiment_data, start_data;
  events::Experiment& experiment = *experiment_data.mutable_experiment();
  events::SessionStart& start = *start_data.mutable_session_start_info();
  for (const auto& [name, value] : settings.values) {
    events::SessionStart::HParam& hparam = *start.add_hparams();
    hparam.set_key(name);
    events::Experiment::HParamInfo& info = *experiment.add_hparam_infos();
    info.set_name(name);
    info.set_type(SetValue(*hparam.mutable_value(), value));
  }
  for (const std::string& metric : settings.metrics) {
    experiment.add_metric_infos()->mutable_name()->set_tag(metric);
  }
  start.set_start_time_secs(time);
  const auto append = [&](const char* tag, const events::HParamsData& data) {
    events::Summary::Value& value = *summary.add_value();
    value.set_tag(tag);
    SetPlugin(value, "hparams", data.SerializeAsString());
  };
  append("_hparams_/experiment", experiment_data);
  append("_hparams_/session_start_info", start_data);
}

}  // namespace

std::string EventMessage(const tracking::Record& record) {
  events::Event event;
  event.set_wall_time(record.time);
  event.set_step(record.step);
  events::Summary& summary = *event.mutable_summary();
  if (const auto* settings =
          std::get_if<tracking::HyperParameters>(&record.what)) {
    Append(summary, *settings, record.time);
  } else if (const auto* row = std::get_if<tracking::Row>(&record.what)) {
    Append(summary, *row);
  } else if (const auto* histogram =
                 std::get_if<tracking::Histogram>(&record.what)) {
    Append(summary, *histogram);
  } else if (const auto* image = std::get_if<tracking::Image>(&record.what)) {
    Append(summary, *image);
  } else {
    Append(summary, std::get<tracking::Text>(record.what));
  }
  return event.SerializeAsString();
}

std::string VersionMessage(double time) {
  events::Event event;
  event.set_wall_time(time);
  event.set_file_version("brain.Event:2");
  return event.SerializeAsString();
}

}  // namespace trainyard
