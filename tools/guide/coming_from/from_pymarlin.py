from pymarlin.core import module_interface, trainer
from pymarlin.utils.checkpointer.checkpoint_utils import DefaultCheckpointerArguments
from torch.nn.functional import cross_entropy
from torch.optim import AdamW
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader

import ring


class RingModule(module_interface.ModuleInterface):
    def __init__(self):
        super().__init__()
        self.net = ring.make_net()

    def get_optimizers_schedulers(self, estimated_global_steps_per_epoch, epochs):
        optimizer = AdamW(self.parameters(), lr=ring.RATE)
        return [optimizer], [CosineAnnealingLR(optimizer, ring.UPDATES)]  # the estimate is one too many per epoch

    def get_train_dataloader(self, sampler, batch_size):  # `sampler` would shuffle
        return DataLoader(ring.train_data(), batch_size=batch_size)

    def get_val_dataloaders(self, sampler, batch_size):
        return DataLoader(ring.eval_data(), batch_size=batch_size)

    def train_step(self, global_step, batch, device):
        points, target = batch
        return cross_entropy(self.net(points.to(device)), target.to(device))

    def val_step(self, global_step, batch, device):
        points, target = batch
        return cross_entropy(self.net(points.to(device)), target.to(device))

    def on_end_val_epoch(self, global_step, *losses, key="default"):
        print(f"update {global_step}: eval_loss={losses[0].mean():.6f}")


module = RingModule()
arguments = trainer.TrainerArguments(
    epochs=ring.EPOCHS,
    train_batch_size=ring.BATCH,
    val_batch_size=ring.BATCH,
    max_grad_norm=1.0,
    use_gpu=False,
    writers=[],
    checkpointer_args=DefaultCheckpointerArguments(checkpoint=False),
)
trainer.Trainer(module=module, args=arguments).train()
ring.report(module.net)
