"""The lists that the layering check holds targets to. Keep them short."""

# The loop itself. Nothing below it may depend on it.
TRAINER = "//trainer:trainer"

# Folders of independent parts. A part may use its own folder, the vocabulary in
# //trainer, and the interfaces of the other folders.
FAMILIES = ["backends", "callbacks", "finetuning", "schedulers", "tracking"]

# What everybody may depend on.
INTERFACES = [
    "//backends:backend",
    "//backends:collectives",
    "//backends:gather_text",
    "//backends:own_stream",
    "//backends:step_graph",
    "//backends:while_others_wait",
    "//backends:whole_parameters",
    "//callbacks:callback",
    "//callbacks:callback_handler",
    "//callbacks:other_weights",
    "//callbacks:step_wrapper",
    "//schedulers:metric_schedule",
    "//schedulers:per_group",
    "//schedulers:schedule",
    "//tracking:metric_reducer",
    "//tracking:metrics",
    "//tracking:run_history",
]

# (target, concrete target of another folder): where one wraps the other.
WRAPPERS = [
    ("//callbacks/predictions:epoch_outputs", "//backends:output_collector"),
    ("//callbacks/predictions:predictions_to_file", "//backends:output_collector"),
    ("//callbacks/setup:convert_sync_batch_norm", "//backends:sync_batch_norm"),
    ("//trainer:default_callbacks", "//callbacks/printing:epoch_table"),
    ("//trainer:default_callbacks", "//callbacks/printing:progress_bar"),
    ("//trainer:default_callbacks", "//callbacks/stopping:terminate_on_nan"),
    ("//callbacks/recording:track", "//tracking:run_info"),
    ("//callbacks/recording:track", "//tracking/sinks:csv"),
    ("//callbacks/recording:track", "//tracking/sinks:jsonl"),
    ("//callbacks/recording:track", "//tracking/sinks:tensorboard"),
    ("//callbacks/recording:track", "//tracking/sinks:tracker"),
    ("//callbacks/weights:gradual_unfreezing", "//finetuning/freezer:model_freezer"),
    ("//callbacks/weights:model_ema", "//finetuning:ema"),
    ("//callbacks/weights:unfreezing_recipes", "//finetuning/freezer:model_freezer"),
]

# Labels, with shell wildcards, of libraries that must build without libtorch: they
# compile in a second, run anywhere, and can be fuzzed.
TORCH_FREE = [
    "//backends/processes:call_log",
    "//backends/processes:listening_socket",
    "//backends/processes:rank_record",
    "//backends/processes:rendezvous",
    "//callbacks/printing:progress_display",
    "//callbacks/printing:progress_line",
    "//callbacks/printing:readable",
    "//callbacks/printing:terminal",
    "//callbacks/weights:lr_curve",
    "//callbacks/recording:track",
    "//callbacks:clock",
    "//callbacks/stopping:new_values",
    "//callbacks:other_weights",
    "//finetuning/warm_start:rename_rules",
    "//finetuning:ema_decay",
    "//finetuning:near_names",
    "//finetuning/lora:adapter_config",
    "//schedulers*:*",
    "//tools/launch:launch_only",
    "//tools/launch/testing:test_rank",
    "//tools/report:*",
    "//tracking/sinks:*",
    "//tracking:run_history",
    "//tracking:run_info",
    "//tracking:run_summary",
    "//trainer:better",
    "//trainer/loop:cancellation",
    "//trainer:control",
    "//trainer/loop:grad_window",
    "//trainer/loop:limit_batches",
    "//trainer/loop:micro_batch",
    "//trainer:run_config",
    "//trainer:state",
    "//trainer:run_clock",
    "//trainer:run_result",
    "//trainer:train_unit",
    "//trainer/checkpoint:python_param_groups",
    "//trainer/checkpoint:rank_exchange",
    "//trainer/checkpoint/safetensors:safetensors_dtype",
    "//trainer/checkpoint/safetensors:safetensors_header",
    "//trainer/checkpoint/safetensors:safetensors_layout",
    "//trainer/io:*",
    "//trainer/checkpoint/folder:*",
    "//trainer/checkpoint/format:*",
    "//trainer/exported:graph",
    "//trainer/exported:model_text",
    "//trainer/data:ordered_workers",
    "//trainer/data:partition",
    "//trainer/data:sample_random",
    "//trainer/data/datasets:csv_reader",
    "//trainer/data/datasets:mapped_file",
    "//trainer/data/images:image",
]
