from determined import pytorch
from torch.nn.functional import cross_entropy
from torch.nn.utils import clip_grad_norm_
from torch.optim import AdamW
from torch.optim.lr_scheduler import CosineAnnealingLR

import ring


class RingTrial(pytorch.PyTorchTrial):
    def __init__(self, context):
        self.context = context
        self.net = context.wrap_model(ring.make_net())
        self.optimizer = context.wrap_optimizer(AdamW(self.net.parameters(), lr=ring.RATE))
        context.wrap_lr_scheduler(
            CosineAnnealingLR(self.optimizer, ring.UPDATES), pytorch.LRScheduler.StepMode.STEP_EVERY_BATCH
        )

    def build_training_data_loader(self):
        return pytorch.DataLoader(ring.train_data(), batch_size=ring.BATCH)

    def build_validation_data_loader(self):
        return pytorch.DataLoader(ring.eval_data(), batch_size=ring.BATCH)

    def train_batch(self, batch, epoch_idx, batch_idx):
        points, target = batch
        loss = cross_entropy(self.net(points), target)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer, clip_grads=lambda parameters: clip_grad_norm_(parameters, 1.0))
        return {"loss": loss}

    def evaluate_batch(self, batch):
        points, target = batch
        return {"loss": cross_entropy(self.net(points), target)}


with pytorch.init(enable_tensorboard_logging=False) as context:
    trial = RingTrial(context)
    trainer = pytorch.Trainer(trial, context)
    trainer.fit(
        max_length=pytorch.Epoch(ring.EPOCHS), validation_period=pytorch.Epoch(1), checkpoint_policy="none"
    )
ring.report(trial.net)
