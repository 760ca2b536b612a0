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
    "//backends:while_others_wait",
    "//callbacks:callback",
    "//callbacks:callback_handler",
    "//callbacks:other_weights",
    "//schedulers:metric_schedule",
    "//schedulers:per_group",
    "//schedulers:schedule",
    "//tracking:metric_reducer",
    "//tracking:metrics",
    "//tracking:run_history",
]

# (target, concrete target of another folder): where one wraps the other.
WRAPPERS = [
    ("//callbacks/setup:convert_sync_batch_norm", "//backends:sync_batch_norm"),
    ("//callbacks/track:track", "//tracking:run_info"),
    ("//callbacks/track:track", "//tracking/sinks:csv"),
    ("//callbacks/track:track", "//tracking/sinks:jsonl"),
    ("//callbacks/track:track", "//tracking/sinks:tensorboard"),
    ("//callbacks/track:track", "//tracking/sinks:tracker"),
    ("//callbacks/weights:model_ema", "//finetuning:ema"),
]

# Labels, with shell wildcards, of libraries that must build without libtorch: they
# compile in a second, run anywhere, and can be fuzzed.
TORCH_FREE = [
    "//backends/processes:listening_socket",
    "//backends/processes:rendezvous",
    "//callbacks/display:*",
    "//callbacks/lr_finder:lr_curve",
    "//callbacks/track:track",
    "//callbacks:clock",
    "//callbacks:new_values",
    "//callbacks:other_weights",
    "//callbacks:run_progress",
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
    "//trainer:cancellation",
    "//trainer:control",
    "//trainer:grad_window",
    "//trainer:limit_batches",
    "//trainer:micro_batch",
    "//trainer:run_config",
    "//trainer:state",
    "//trainer:step_state",
    "//trainer:train_unit",
    "//trainer/checkpoint:atomic_file",
    "//trainer/checkpoint:crc32c",
    "//trainer/checkpoint:input_file",
    "//trainer/checkpoint:json_reader",
    "//trainer/checkpoint:json_string",
    "//trainer/checkpoint:json_writer",
    "//trainer/checkpoint:python_param_groups",
    "//trainer/checkpoint:rank_exchange",
    "//trainer/checkpoint:safetensors_dtype",
    "//trainer/checkpoint:safetensors_header",
    "//trainer/checkpoint:safetensors_layout",
    "//trainer/checkpoint:utf8",
    "//trainer/checkpoint/files:*",
    "//trainer/checkpoint/folder:*",
    "//trainer/checkpoint/format:*",
    "//trainer/exported:graph",
    "//trainer/exported:model_text",
    "//trainer/data:gzip_file",
    "//trainer/data:ordered_workers",
    "//trainer/data:partition",
    "//trainer/data:sample_random",
    "//trainer/data/datasets:csv_reader",
    "//trainer/data/datasets:mapped_file",
    "//trainer/data/images:image",
]
