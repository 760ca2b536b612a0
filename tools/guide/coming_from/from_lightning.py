import lightning as L
from lightning.pytorch.callbacks import EarlyStopping
from torch.nn.functional import cross_entropy
from torch.optim import AdamW
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader

import ring


class RingModule(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = ring.make_net()

    def training_step(self, batch, batch_idx):
        points, target = batch
        loss = cross_entropy(self.net(points), target)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        points, target = batch
        self.log("val_loss", cross_entropy(self.net(points), target))

    def configure_optimizers(self):
        optimizer = AdamW(self.parameters(), lr=ring.RATE)
        schedule = CosineAnnealingLR(optimizer, ring.UPDATES)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


module = RingModule()
trainer = L.Trainer(
    accelerator="cpu",
    max_epochs=ring.EPOCHS,
    gradient_clip_val=1.0,
    callbacks=[EarlyStopping(monitor="val_loss", patience=2)],
    logger=False,
    enable_checkpointing=False,
)
trainer.fit(
    module,
    train_dataloaders=DataLoader(ring.train_data(), batch_size=ring.BATCH),
    val_dataloaders=DataLoader(ring.eval_data(), batch_size=ring.BATCH),
)
ring.report(module.net)
