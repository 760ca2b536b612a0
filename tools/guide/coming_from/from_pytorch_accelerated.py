from pytorch_accelerated import Trainer
from pytorch_accelerated.callbacks import EarlyStoppingCallback, PrintProgressCallback, TerminateOnNaNCallback
from torch.nn.functional import cross_entropy
from torch.optim import AdamW
from torch.optim.lr_scheduler import CosineAnnealingLR

import ring

net = ring.make_net()
trainer = Trainer(
    model=net,
    loss_func=cross_entropy,
    optimizer=AdamW(net.parameters(), lr=ring.RATE),
    callbacks=[PrintProgressCallback, TerminateOnNaNCallback, EarlyStoppingCallback(early_stopping_patience=2)],
)
trainer.train(
    train_dataset=ring.train_data(),
    eval_dataset=ring.eval_data(),
    num_epochs=ring.EPOCHS,
    per_device_batch_size=ring.BATCH,
    gradient_clip_value=1.0,
    create_scheduler_fn=lambda optimizer: CosineAnnealingLR(optimizer, ring.UPDATES),
    train_dataloader_kwargs={"shuffle": False, "num_workers": 0},
    eval_dataloader_kwargs={"num_workers": 0},
)
ring.report(net)
