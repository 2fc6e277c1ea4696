"""TensorFlow Privacy: its Keras model with the layer registry, or without it, as the argument says."""

import sys

import protocol
import tensorflow as tf
from tensorflow_privacy.privacy.fast_gradient_clipping import layer_registry
from tensorflow_privacy.privacy.keras_models.dp_keras_model import DPModel

mode = sys.argv[1]
tf.random.set_seed(0)


def draw(values):
    """Codes of images."""
    mean, log_std = values
    unit = tf.random.normal(tf.shape(mean))
    return mean + tf.exp(log_std) * unit, unit


inputs = tf.keras.Input((protocol.PIXELS,))
features = tf.keras.layers.Dense(protocol.HIDDEN, activation="softplus")(inputs)
mean = tf.keras.layers.Dense(protocol.LATENT)(features)
log_std = tf.keras.layers.Dense(protocol.LATENT)(features)
z, unit = tf.keras.layers.Lambda(draw)([mean, log_std])
hidden = tf.keras.layers.Dense(protocol.HIDDEN, activation="softplus")(z)
logits = tf.keras.layers.Dense(protocol.PIXELS)(hidden)
output = tf.keras.layers.Concatenate()([logits, z, unit, log_std])


class Elbo(tf.keras.losses.Loss):
    """Negative ELBO of every image."""

    def call(self, image, output):
        """Of shape (batch,)."""
        logits, z, unit, log_std = tf.split(output, [protocol.PIXELS] + 3 * [protocol.LATENT], 1)
        reconstruction = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(image, logits), 1)
        divergence = 0.5 * tf.reduce_sum(z**2 - unit**2, 1) - tf.reduce_sum(log_std, 1)
        return reconstruction + divergence


registry = layer_registry.make_default_layer_registry() if mode == "fast" else None
model = DPModel(
    l2_norm_clip=protocol.CLIP,
    noise_multiplier=protocol.NOISE_MULTIPLIER,
    use_xla=False,
    layer_registry=registry,
    inputs=inputs,
    outputs=output,
)
model.compile(tf.keras.optimizers.Adam(protocol.LEARNING_RATE), Elbo())
if model._enable_fast_peg_computation != (mode == "fast"):
    raise RuntimeError("TensorFlow Privacy does not clip as it was asked to")
images = tf.cast(tf.random.uniform((protocol.BATCH, protocol.PIXELS)) < 0.3, tf.float32)
step = tf.function(lambda: model.train_step((images, images)))


def run(steps):
    """Take steps one after the other."""
    for _ in range(steps):
        result = step()
    for value in result.values():
        value.numpy()


protocol.serve(run, model.count_params())
