from torch.nn.functional import cross_entropy
from torch.optim import AdamW
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader
from trainer_tools.hooks import BaseHook, GradClipHook, LRSchedulerHook
from trainer_tools.trainer import Trainer

import ring


def train_step(batch, trainer):
    points, target = batch
    outputs = trainer.model(points)
    return {"loss": cross_entropy(outputs, target), "logits": outputs, "labels": target}


class CountUpdates(BaseHook):
    def before_fit(self, trainer):
        self.updates = 0

    def after_step(self, trainer):
        self.updates += trainer.training

    def after_fit(self, trainer):
        print(f"{self.updates} updates")


net = ring.make_net()
trainer = Trainer(
    model=net,
    train_step=train_step,
    train_dl=DataLoader(ring.train_data(), batch_size=ring.BATCH),
    valid_dl=DataLoader(ring.eval_data(), batch_size=ring.BATCH),
    optim=AdamW(net.parameters(), lr=ring.RATE),
    epochs=ring.EPOCHS,
    device="cpu",
    hooks=[
        CountUpdates(),
        GradClipHook(1.0),
        LRSchedulerHook(lambda optimizer: CosineAnnealingLR(optimizer, ring.UPDATES)),
    ],
)
trainer.fit()
ring.report(net)
