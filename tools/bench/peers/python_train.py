"""One training run of one Python framework; peers.py starts it and reads its last line.

    python_train.py FRAMEWORK WORKLOAD STEPS THREADS

STEPS is 0 for the row of accuracy. Each function follows its framework's documentation. Progress bars, logs and checkpoints
are off. With WORLD_SIZE > 1, the environment describes the rank as torchrun does, and the framework's own form of data
parallelism is used.
"""

import functools
import logging
import os
import sys
import types
import warnings

import torch
from torch.nn.utils import clip_grad_norm_
from torch.optim import AdamW
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader, DistributedSampler

from workloads import LARGEST_NORM, Task, rank, ranks


def make_loader(task, distributed=False):
    if distributed and ranks() > 1:
        return DataLoader(task.data, batch_size=task.batch, sampler=DistributedSampler(task.data))
    return DataLoader(task.data, batch_size=task.batch, shuffle=True)


def make_optimizer(task, model, **options):
    optimizer = AdamW(model.parameters(), lr=task.rate, **options)
    return optimizer, CosineAnnealingLR(optimizer, task.steps)


def add_stub(name, **members):
    """Provides a module that a framework imports but does not use here."""
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)


class Shuffled:
    """Batches of a permutation, without a DataLoader: one index per tensor and batch."""

    def __init__(self, task):
        self._task = task
        self._generator = torch.Generator().manual_seed(2)  # the same on all ranks

    def __iter__(self):
        order = torch.randperm(len(self._task.input), generator=self._generator)[rank()::ranks()]
        for chosen in order.split(self._task.batch):
            inputs = self._task.input[chosen]
            if inputs.dim() == 4:
                inputs = inputs.to(memory_format=torch.channels_last)
            yield inputs, self._task.target[chosen]


def bare_loop(task, make_batches, **options):
    model = task.model
    if ranks() > 1:
        torch.distributed.init_process_group("gloo")
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer, schedule = make_optimizer(task, model, **options)
    batches = make_batches(task)
    total = 0.0
    model.train()
    for _ in range(task.epochs):
        for inputs, targets in batches:
            optimizer.zero_grad()
            loss = task.loss(model(inputs), targets)
            loss.backward()
            clip_grad_norm_(model.parameters(), LARGEST_NORM)
            optimizer.step()
            schedule.step()
            total += loss.item()


def torch_loop(task, **options):
    bare_loop(task, functools.partial(make_loader, distributed=True), **options)


def torch_fused(task):
    torch_loop(task, fused=True)


def torch_fastest(task):
    if task.name == "conv":
        task.model.to(memory_format=torch.channels_last)
    bare_loop(task, Shuffled, fused=True)


def accelerate(task):
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    optimizer, schedule = make_optimizer(task, task.model, fused=True)
    # Its schedule takes one step per rank at each update, so that as many in all must be planned.
    schedule.T_max *= ranks()
    model, optimizer, loader, schedule = accelerator.prepare(task.model, optimizer, make_loader(task), schedule)
    total = 0.0
    model.train()
    for _ in range(task.epochs):
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = task.loss(model(inputs), targets)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), LARGEST_NORM)
            optimizer.step()
            schedule.step()
            total += loss.item()


def pytorch_accelerated(task):
    from pytorch_accelerated import Trainer
    from pytorch_accelerated.callbacks import MoveModulesToDeviceCallback, TerminateOnNaNCallback

    class NormClippingTrainer(Trainer):  # its own clips each value
        def _clip_gradients(self):
            self._accelerator.clip_grad_norm_(self.model.parameters(), self.run_config.gradient_clip_value)

    trainer = NormClippingTrainer(
        task.model, loss_func=task.loss, optimizer=AdamW(task.model.parameters(), lr=task.rate, fused=True),
        callbacks=(MoveModulesToDeviceCallback, TerminateOnNaNCallback))
    trainer.train(
        task.data, num_epochs=task.epochs, per_device_batch_size=task.batch, gradient_clip_value=LARGEST_NORM,
        create_scheduler_fn=lambda optimizer: CosineAnnealingLR(optimizer, task.steps),
        train_dataloader_kwargs={"num_workers": 0})


def lightning(task):
    import lightning as L

    class Module(L.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = task.model

        def training_step(self, batch, _):
            loss = task.loss(self.net(batch[0]), batch[1])
            self.log("train_loss", loss)
            return loss

        def configure_optimizers(self):
            optimizer, schedule = make_optimizer(task, self, fused=True)
            return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    # It refuses gradient_clip_val with a fused optimizer only in mixed precision, which is not used here.
    trainer = L.Trainer(
        accelerator="cpu", devices=ranks(), strategy="ddp" if ranks() > 1 else "auto", max_epochs=task.epochs,
        gradient_clip_val=LARGEST_NORM, logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False)
    trainer.fit(Module(), make_loader(task))


def transformers(task):
    from transformers import Trainer, TrainingArguments

    class WithLoss(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = task.model

        def forward(self, inputs, labels):
            logits = self.net(inputs)
            return {"loss": task.loss(logits, labels), "logits": logits}

    class Records(torch.utils.data.Dataset):
        def __len__(self):
            return len(task.input)

        def __getitem__(self, i):
            return {"inputs": task.input[i], "labels": task.target[i]}

    options = {"ddp_backend": "gloo"} if ranks() > 1 else {}
    arguments = TrainingArguments(  # its default optimizer is the fused AdamW
        output_dir="output", num_train_epochs=task.epochs, per_device_train_batch_size=task.batch, learning_rate=task.rate,
        weight_decay=0.01, lr_scheduler_type="cosine", max_grad_norm=LARGEST_NORM, logging_strategy="no",
        save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True, **options)
    Trainer(model=WithLoss(), args=arguments, train_dataset=Records()).train()


def ignite(task):
    import ignite.distributed as idist
    from ignite.engine import Engine, Events
    from ignite.handlers import LRScheduler
    from ignite.metrics import RunningAverage

    if ranks() > 1:
        idist.initialize("gloo")
    model = idist.auto_model(task.model)
    optimizer, schedule = make_optimizer(task, model, fused=True)

    def update(_, batch):
        model.train()
        optimizer.zero_grad()
        loss = task.loss(model(batch[0]), batch[1])
        loss.backward()
        clip_grad_norm_(model.parameters(), LARGEST_NORM)
        optimizer.step()
        return loss.item()

    engine = Engine(update)
    engine.add_event_handler(Events.ITERATION_COMPLETED, LRScheduler(schedule))
    RunningAverage(output_transform=lambda loss: loss).attach(engine, "loss")
    engine.run(make_loader(task, distributed=True), max_epochs=task.epochs)


def trainer_tools(task):
    from trainer_tools.hooks import GradClipHook, Loss, LRSchedulerHook, MetricsHook
    from trainer_tools.hooks.accelerate import AccelerateHook
    from trainer_tools.trainer import Trainer

    def train_step(batch, trainer):
        logits = trainer.model(batch[0])
        return {"loss": task.loss(logits, batch[1]), "logits": logits, "labels": batch[1]}

    # Through accelerate, the schedule takes one step per rank at each update.
    parallel = ranks() > 1
    clipping = AccelerateHook(max_grad_norm=LARGEST_NORM, cpu=True) if parallel else GradClipHook(LARGEST_NORM)
    Trainer(
        model=task.model, train_step=train_step, train_dl=make_loader(task), epochs=task.epochs, device="cpu",
        optim=AdamW(task.model.parameters(), lr=task.rate, fused=True),
        hooks=[MetricsHook([Loss()], log_file=None), clipping,
               LRSchedulerHook(lambda optimizer: CosineAnnealingLR(optimizer, task.steps * ranks()))]).fit()


def pymarlin(task):
    for name in ("azureml", "azureml.core"):
        add_stub(name, __path__=[])
    add_stub("azureml.core.run", Run=object)
    from pymarlin.core import module_interface, trainer, trainer_backend  # does not import with Python 3.11 and newer
    from pymarlin.utils.checkpointer.checkpoint_utils import DefaultCheckpointerArguments

    class OnTheCpu(trainer_backend.DDPTrainerBackend):
        """Without what its own does with CUDA only."""

        def init(self, args):
            self.args, self.distributed_training_args = args, args.distributed_training_args
            torch.distributed.init_process_group("gloo")
            self.trainer_backend.init(args)
            self.trainer_backend.model = torch.nn.parallel.DistributedDataParallel(args.model)

    class Module(module_interface.ModuleInterface):
        def __init__(self):
            super().__init__()
            self.net = task.model

        def get_optimizers_schedulers(self, steps_per_epoch, epochs):
            optimizer, schedule = make_optimizer(task, self, fused=True)
            return [optimizer], [schedule]

        def get_train_dataloader(self, sampler, batch_size):
            return DataLoader(task.data, batch_size=batch_size, sampler=sampler(task.data))

        def get_val_dataloaders(self, sampler, batch_size):
            return {}

        def train_step(self, global_step, batch, device):
            return task.loss(self.net(batch[0].to(device)), batch[1].to(device))

        def val_step(self, global_step, batch, device):
            raise NotImplementedError

    backend = trainer_backend.SingleProcess()
    arguments = trainer.TrainerArguments(  # the batch is that of all ranks
        epochs=task.epochs, use_gpu=False, train_batch_size=task.batch * ranks(), max_grad_norm=LARGEST_NORM, writers=[],
        disable_tqdm=True, log_level="WARNING", checkpointer_args=DefaultCheckpointerArguments(checkpoint=False))
    trainer.Trainer(
        module=Module(), args=arguments, trainer_backend=OnTheCpu(backend) if ranks() > 1 else backend).train()


def composer(task):
    add_stub("mcli")
    # The operators of torchvision do not load with every build of torch; its Python files need only their names.
    library = torch.library.Library("torchvision", "DEF")
    for operator in ("nms", "qnms"):
        library.define(operator + "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    from composer import ComposerModel, Trainer
    from composer.algorithms import GradientClipping
    from composer.optim import CosineAnnealingScheduler
    from composer.utils import dist, get_device

    if ranks() > 1:
        dist.initialize_dist(get_device("cpu"))

    class Model(ComposerModel):
        def __init__(self):
            super().__init__()
            self.net = task.model

        def forward(self, batch):
            return self.net(batch[0])

        def loss(self, outputs, batch):
            return task.loss(outputs, batch[1])

    model = Model()
    Trainer(
        model=model, train_dataloader=make_loader(task, distributed=True), max_duration=f"{task.epochs}ep", device="cpu",
        optimizers=AdamW(model.parameters(), lr=task.rate, fused=True), schedulers=CosineAnnealingScheduler(),
        algorithms=[GradientClipping(clipping_type="norm", clipping_threshold=LARGEST_NORM)],
        progress_bar=False, log_to_console=False, save_folder=None).fit()


def determined(task):
    from determined import core, pytorch

    group = None
    if ranks() > 1:
        os.environ["USE_TORCH_DISTRIBUTED"] = "True"  # as its own launcher does
        torch.distributed.init_process_group("gloo")
        group = core.DistributedContext.from_torch_distributed()
    logging.disable(logging.WARNING)

    class Trial(pytorch.PyTorchTrial):
        def __init__(self, context):
            self.context = context
            self.model = context.wrap_model(task.model)
            self.optimizer = context.wrap_optimizer(AdamW(self.model.parameters(), lr=task.rate, fused=True))
            context.wrap_lr_scheduler(
                CosineAnnealingLR(self.optimizer, task.steps), pytorch.LRScheduler.StepMode.STEP_EVERY_BATCH)

        def build_training_data_loader(self):
            return pytorch.DataLoader(task.data, batch_size=task.batch, shuffle=True)

        def build_validation_data_loader(self):
            first = torch.utils.data.Subset(task.data, range(task.batch * ranks()))
            return pytorch.DataLoader(first, batch_size=task.batch)

        def train_batch(self, batch, epoch_idx, batch_idx):
            loss = task.loss(self.model(batch[0]), batch[1])
            self.context.backward(loss)
            self.context.step_optimizer(self.optimizer, clip_grads=lambda params: clip_grad_norm_(params, LARGEST_NORM))
            return {"loss": loss}

        def evaluate_batch(self, batch):
            return {"loss": task.loss(self.model(batch[0]), batch[1])}

    with pytorch.init(distributed=group, enable_tensorboard_logging=False) as context:
        pytorch.Trainer(Trial(context), context).fit(max_length=pytorch.Batch(task.steps), checkpoint_policy="none")


FRAMEWORKS = {
    function.__name__: function
    for function in (torch_loop, torch_fused, torch_fastest, accelerate, pytorch_accelerated, lightning, transformers, ignite,
                     trainer_tools, pymarlin, composer, determined)
}


def main():
    framework, workload, steps, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    warnings.filterwarnings("ignore")
    task = Task(workload, int(steps))
    FRAMEWORKS[framework](task)
    task.finish()
    if torch.distributed.is_initialized():
        torch.distributed.barrier()  # a rank that leaves while another one still works may abort
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
