"""One training run in JAX: a jitted step with optax; peers.py starts it and reads its last line.

    jax_train.py WORKLOAD STEPS THREADS
"""

import os
import sys
import time

WORKLOAD, STEPS, THREADS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
# XLA has a thread for each core that the process may use.
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import optax

from workloads import BATCH, FEED_FORWARD, HEADS, LARGEST_NORM, LAYERS, LENGTH, RATE, VOCABULARY, WIDTH, WIDTHS, print_result


def linear(key, inputs, outputs):
    weight, bias = jax.random.split(key)
    bound = inputs**-0.5
    return {"w": jax.random.uniform(weight, (inputs, outputs), minval=-bound, maxval=bound),
            "b": jax.random.uniform(bias, (outputs,), minval=-bound, maxval=bound)}


def apply(layer, x):
    return x @ layer["w"] + layer["b"]


def make_mlp(key, widths):
    keys = jax.random.split(key, len(widths) - 1)
    return [linear(k, before, after) for k, before, after in zip(keys, widths, widths[1:])]


def mlp(layers, x):
    for layer in layers[:-1]:
        x = jax.nn.relu(apply(layer, x))
    return apply(layers[-1], x)


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


def encoder(params, tokens):
    x = params["embedding"][tokens] + params["position"]
    for layer in params["layers"]:
        parts = apply(layer["qkv"], x).reshape(*x.shape[:2], 3, HEADS, WIDTH // HEADS)
        query, key, value = parts[:, :, 0], parts[:, :, 1], parts[:, :, 2]
        attended = jax.nn.dot_product_attention(query, key, value).reshape(x.shape)
        x = normalize(layer["norm1"], x + apply(layer["out"], attended))
        x = normalize(layer["norm2"], x + apply(layer["down"], jax.nn.relu(apply(layer["up"], x))))
    return apply(params["head"], x)


def main():
    batch = BATCH[WORKLOAD]
    generator, key = np.random.default_rng(0), jax.random.key(1)
    if WORKLOAD == "transformer":
        inputs = generator.integers(0, VOCABULARY, (batch * STEPS, LENGTH), dtype=np.int32)
        targets = (inputs * 7 + 3) % VOCABULARY
        params, forward = make_encoder(key), encoder
    else:
        widths = WIDTHS[WORKLOAD]
        inputs = generator.standard_normal((batch * STEPS, widths[0]), dtype=np.float32)
        targets = (inputs @ generator.standard_normal((widths[0], widths[-1]), dtype=np.float32)).argmax(1).astype(np.int32)
        params, forward = make_mlp(key, widths), mlp
    optimizer = optax.chain(
        optax.clip_by_global_norm(LARGEST_NORM),
        optax.adamw(optax.cosine_decay_schedule(RATE, STEPS), weight_decay=0.01))

    def loss_of(params, x, y):
        return optax.softmax_cross_entropy_with_integer_labels(forward(params, x), y).mean()

    def update(params, state, x, y):
        loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, loss

    step = jax.jit(update, donate_argnums=(0, 1))
    state = optimizer.init(params)
    order = generator.permutation(batch * STEPS)
    ends, total = [], 0.0
    for i in range(STEPS):
        chosen = order[i * batch:(i + 1) * batch]
        params, state, loss = step(params, state, inputs[chosen], targets[chosen])
        total += float(loss)  # waits for the step
        ends.append(time.time())
    print_result(ends, float(loss_of(params, inputs[:512], targets[:512])))


if __name__ == "__main__":
    main()
