"""One training run in JAX: a jitted step with optax; peers.py starts it and reads its last line.

    jax_train.py WORKLOAD STEPS THREADS

STEPS is 0 for the row of accuracy. With WORLD_SIZE > 1 each process has one device of a mesh, over which the batch is
split; XLA adds the exchange of gradients to the step.
"""

import os
import sys
import time

WORKLOAD, STEPS, THREADS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
# XLA has a thread for each core that the process may use.
_CORES = sorted(os.sched_getaffinity(0))
_FIRST = int(os.environ.get("RANK", "0")) * THREADS % len(_CORES)
os.sched_setaffinity(0, (_CORES + _CORES)[_FIRST:_FIRST + THREADS])
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from workloads import (
    BATCH, DROPOUT, EPOCHS, FEED_FORWARD, HEADS, LARGEST_NORM, LAYERS, LENGTH, RATE, VOCABULARY, WIDTH, WIDTHS, AccuracyClock,
    print_result, rank, ranks, read_fashion_mnist)


def linear(key, inputs, outputs):
    weight, bias = jax.random.split(key)
    bound = inputs**-0.5
    return {"w": jax.random.uniform(weight, (inputs, outputs), minval=-bound, maxval=bound),
            "b": jax.random.uniform(bias, (outputs,), minval=-bound, maxval=bound)}


def apply(layer, x):
    return x @ layer["w"] + layer["b"]


def make_mlp(key):
    widths = WIDTHS[WORKLOAD]
    keys = jax.random.split(key, len(widths) - 1)
    return [linear(k, before, after) for k, before, after in zip(keys, widths, widths[1:])]


def mlp(layers, x, _):
    for layer in layers[:-1]:
        x = jax.nn.relu(apply(layer, x))
    return apply(layers[-1], x)


def make_conv_net(key):
    """As tools/examples/conv_net.h; images and kernels have their channels last."""
    first, second, hidden, output = jax.random.split(key, 4)

    def convolution(key, inputs, outputs):
        flat = linear(key, 9 * inputs, outputs)
        return {"w": flat["w"].reshape(3, 3, inputs, outputs), "b": flat["b"]}

    return {"conv1": convolution(first, 1, 16), "conv2": convolution(second, 16, 32),
            "hidden": linear(hidden, 32 * 7 * 7, 128), "output": linear(output, 128, 10)}


def conv_net(params, x, key):
    for name in ("conv1", "conv2"):
        layer = params[name]
        x = jax.lax.conv_general_dilated(x, layer["w"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")) + layer["b"]
        x = jax.nn.relu(jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"))
    x = jax.nn.relu(apply(params["hidden"], x.reshape(x.shape[0], -1)))
    if key is not None:
        x = jnp.where(jax.random.bernoulli(key, 1 - DROPOUT, x.shape), x / (1 - DROPOUT), 0)
    return apply(params["output"], x)


def make_encoder(key):
    embedding, head, *keys = jax.random.split(key, 2 + 4 * LAYERS)
    norm = lambda: {"scale": jnp.ones(WIDTH), "bias": jnp.zeros(WIDTH)}
    layers = [
        {"qkv": linear(keys[4 * i], WIDTH, 3 * WIDTH), "out": linear(keys[4 * i + 1], WIDTH, WIDTH),
         "up": linear(keys[4 * i + 2], WIDTH, FEED_FORWARD), "down": linear(keys[4 * i + 3], FEED_FORWARD, WIDTH),
         "norm1": norm(), "norm2": norm()}
        for i in range(LAYERS)]
    return {"embedding": jax.random.normal(embedding, (VOCABULARY, WIDTH)), "position": jnp.zeros((LENGTH, WIDTH)),
            "layers": layers, "head": linear(head, WIDTH, VOCABULARY)}


def normalize(norm, x):
    centered = x - x.mean(-1, keepdims=True)
    return centered * jax.lax.rsqrt(jnp.square(centered).mean(-1, keepdims=True) + 1e-5) * norm["scale"] + norm["bias"]


def encoder(params, tokens, _):
    x = params["embedding"][tokens] + params["position"]
    for layer in params["layers"]:
        parts = apply(layer["qkv"], x).reshape(*x.shape[:2], 3, HEADS, WIDTH // HEADS)
        query, key, value = parts[:, :, 0], parts[:, :, 1], parts[:, :, 2]
        attended = jax.nn.dot_product_attention(query, key, value).reshape(x.shape)
        x = normalize(layer["norm1"], x + apply(layer["out"], attended))
        x = normalize(layer["norm2"], x + apply(layer["down"], jax.nn.relu(apply(layer["up"], x))))
    return apply(params["head"], x)


NETWORKS = {"transformer": (make_encoder, encoder), "conv": (make_conv_net, conv_net)}


def make_records(count):
    """`count` is 0 for all that there are."""
    generator = np.random.default_rng(0)
    if WORKLOAD == "conv":
        images, classes = read_fashion_mnist("train")
        count = count or len(images)
        return images[:count].reshape(-1, 28, 28, 1), classes[:count].astype(np.int32)
    if WORKLOAD == "transformer":
        tokens = generator.integers(0, VOCABULARY, (count, LENGTH), dtype=np.int32)
        return tokens, (tokens * 7 + 3) % VOCABULARY
    widths = WIDTHS[WORKLOAD]
    values = generator.standard_normal((count, widths[0]), dtype=np.float32)
    return values, (values @ generator.standard_normal((widths[0], widths[-1]), dtype=np.float32)).argmax(1).astype(np.int32)


class Ranks:
    """Where arrays are: on this process, or over the mesh of all."""

    def __init__(self):
        self._split = None
        if ranks() == 1:
            return
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.distributed.initialize(f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}", ranks(), rank())
        mesh = Mesh(np.array(jax.devices()), ("rank",))
        self._split = NamedSharding(mesh, PartitionSpec("rank"))
        self._whole = NamedSharding(mesh, PartitionSpec())

    def replicated(self, tree):
        """The same values on all ranks."""
        if self._split is None:
            return tree
        return jax.tree.map(lambda x: jax.make_array_from_process_local_data(self._whole, np.asarray(x)), tree)

    def batch(self, array):
        """The batch of all ranks, of which `array` is this one's part."""
        return array if self._split is None else jax.make_array_from_process_local_data(self._split, array)


def main():
    batch, where = BATCH[WORKLOAD], Ranks()
    make, forward = NETWORKS.get(WORKLOAD, (make_mlp, mlp))
    inputs, targets = make_records(batch * STEPS * ranks())
    epoch_steps = -(-len(inputs) // (batch * ranks()))
    epochs = 1 if STEPS else EPOCHS
    params = make(jax.random.key(1))
    optimizer = optax.chain(
        optax.clip_by_global_norm(LARGEST_NORM),
        optax.adamw(optax.cosine_decay_schedule(RATE[WORKLOAD], epoch_steps * epochs), weight_decay=0.01))
    state = (optimizer.init(params), jnp.zeros((), jnp.uint32))  # and the number of steps, for dropout

    def loss_of(params, x, y, key):
        return optax.softmax_cross_entropy_with_integer_labels(forward(params, x, key), y).mean()

    def update(params, state, x, y):
        state, count = state
        loss, gradients = jax.value_and_grad(loss_of)(params, x, y, jax.random.fold_in(jax.random.key(2), count))
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), (state, count + 1), loss

    step = jax.jit(update, donate_argnums=(0, 1))
    params, state = where.replicated(params), where.replicated(state)
    clock = None
    if not STEPS:
        correct = jax.jit(lambda params, x, y: (forward(params, x, None).argmax(-1) == y).sum())
        clock = AccuracyClock(lambda x, y: correct(params, x.reshape(-1, 28, 28, 1), y))
    generator, ends, total = np.random.default_rng(3), [], 0.0
    for _ in range(epochs):
        order = generator.permutation(len(inputs))[rank()::ranks()]
        for i in range(epoch_steps):
            chosen = order[i * batch:(i + 1) * batch]
            params, state, loss = step(params, state, where.batch(inputs[chosen]), where.batch(targets[chosen]))
            total += float(loss)  # waits for the step
            ends.append(time.time())
        if clock:
            clock.epoch_ended()
    if rank() == 0:
        own = jax.tree.map(np.asarray, params)
        print_result(ends, float(loss_of(own, inputs[:512], targets[:512], None)))


if __name__ == "__main__":
    main()
