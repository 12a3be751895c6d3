"""Scores are pure functions of arrays: compile them, map them, differentiate them, train with them.

The last axis is the label, all axes before it broadcast, and the truth may be one-hot or soft.
"""

import argparse
from pathlib import Path

import jax
import jax.numpy as jnp

import probtruth as pt


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="accepted for uniformity; nothing is written")
    parser.parse_args()

    key_logits, key_truth = jax.random.split(jax.random.key(0))
    logits = jax.random.normal(key_logits, (3, 1000, 4))  # model, item, label
    truth = jax.random.dirichlet(key_truth, jnp.ones(4), (1000,))  # item, label
    probs = jax.nn.softmax(logits)

    # jit: one compiled function, all models and items at once, because axes broadcast
    mean_loss = jax.jit(lambda p, t: pt.log_score(p, t).mean(-1))
    print("mean log loss of each model, nats:", [round(float(loss), 3) for loss in mean_loss(probs, truth)])

    # expected loss = what no forecast can avoid + how far this one is from the truth
    entropy, divergence = pt.entropy(truth).mean(), pt.kl_divergence(probs, truth).mean(-1)
    print(f"entropy {float(entropy):.3f} + divergence", [round(float(part), 3) for part in divergence])

    # vmap: the same kernel over an axis that is not the first
    by_item = jax.vmap(pt.brier_score, in_axes=(1, 0))(probs, truth)
    print("Brier scores by item and model:", by_item.shape)

    # grad: 0 log 0 is 0 in value and in gradient, so one-hot truth is no special case
    one_hot = jnp.array([0.0, 0.0, 1.0, 0.0])
    print("gradient in p for a one-hot truth:", jax.grad(pt.log_score)(probs[0, 0], one_hot).round(2).tolist())
    print("gradient in logits is softmax minus truth:", end=" ")
    print(
        bool(
            jnp.allclose(
                jax.grad(pt.rules.log_score_from_logits)(logits[0, 0], one_hot), probs[0, 0] - one_hot, atol=1e-6
            )
        )
    )

    # train: the temperature at which the first model's logits have the least expected loss
    def loss(log_temperature: jax.Array) -> jax.Array:
        return pt.rules.log_score_from_logits(logits[0] / jnp.exp(log_temperature), truth).mean()

    step = jax.jit(lambda value: value - 0.5 * jax.grad(loss)(value))
    value = jnp.array(0.0)
    for _ in range(200):
        value = step(value)
    before, after = float(loss(jnp.array(0.0))), float(loss(value))
    print(f"best temperature {float(jnp.exp(value)):.2f}: loss {before:.3f} -> {after:.3f}")

    # a rule is an object with the same kernels; families are functions that return one
    rule = pt.rules.spherical
    print(f"{rule.name}: {float(jax.jit(rule.expected)(probs[0], truth).mean()):.3f}, range {rule.range}")

    # infinite stays infinite; log-probabilities never pass through probabilities
    certain = jnp.array([1.0, 0.0])
    print("log loss of a certain mistake:", float(pt.log_score(certain, jnp.array([0.5, 0.5]))))
    print(
        "of log-probability -200:",
        float(pt.rules.log.expected_from_log(jnp.array([0.0, -200.0]), jnp.array([0.0, 1.0]))),
    )


if __name__ == "__main__":
    main()
