"""Settings of the models: one frozen class per module in `dpinfer.models`."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from dpinfer.models.names import Jacobian, Layers, Normaliser, Pixels, PriorOn, Start
from pipeline.settings.base import STRICT, Count, NonNegative, Positive

Pair = tuple[float, float]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class TwoModes:
    """Scalars from an even mixture of N(a, v) and N(a + b, v), of which a and b are learnt."""

    name: Literal["two_modes"] = "two_modes"
    prior_variances: Annotated[
        tuple[Positive, Positive], Field(description="Variances of the normal priors on a and b, of mean 0.")
    ] = (10.0, 1.0)
    variance: Annotated[Positive, Field(description="Variance v of both Gaussians.")] = 2.0
    start: Annotated[
        Pair | None, Field(description="Where algorithms start; by default at a standard normal draw.")
    ] = None


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Logistic:
    """Bayesian logistic regression."""

    name: Literal["logistic"] = "logistic"
    intercept: Annotated[bool, Field(description="Whether the last weight is that of a constant.")] = False
    prior_std: Annotated[
        Positive, Field(description="Standard deviation of the Gaussian prior on each weight.")
    ] = 1.0


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Linear:
    """Bayesian linear regression with known noise."""

    name: Literal["linear"] = "linear"
    noise_std: Annotated[Positive, Field(description="Standard deviation of the noise, which is known.")]
    prior_std: Annotated[
        Positive, Field(description="Standard deviation of the Gaussian prior on each weight.")
    ] = 1.0


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Hierarchical:
    """Logistic regression whose weights vary by group around a linear function of the group's features."""

    name: Literal["hierarchical"] = "hierarchical"
    prior_std: Annotated[
        Positive, Field(description="Standard deviation of the Gaussian prior on each effect.")
    ] = 4.0
    features: Annotated[Count, Field(description="Number of features of a record.")] = 5


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Mixture:
    """Mixture of spherical Gaussians with even Dirichlet weights and standard normal means."""

    name: Literal["mixture"] = "mixture"
    components: Annotated[int, Field(ge=2, description="Number of components.")] = 5
    prior_on: Annotated[
        PriorOn,
        Field(description="Whether the inverse gamma prior is on a component's standard deviation or variance."),
    ] = "deviation"
    shape: Annotated[Positive, Field(description="Shape of the inverse gamma prior.")] = 1.0
    rate: Annotated[Positive, Field(description="Scale of the inverse gamma prior, the rate of 1/s.")] = 1.0
    start_std: Annotated[NonNegative, Field(description="Parameters start at draws of this width.")] = 0.1
    jacobian: Annotated[
        Jacobian,
        Field(description="Log-determinant of the map to weights, or by mistake the logarithm of its size."),
    ] = "exact"
    normaliser: Annotated[
        Normaliser,
        Field(description="Power of a density's normaliser: the dimension, or by mistake the components."),
    ] = "dimension"


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Vae:
    """A variational auto-encoder of images, made of dense layers or of convolutions."""

    name: Literal["vae"] = "vae"
    layers: Annotated[Layers, Field(description="What it is made of.")] = "dense"
    image: Annotated[
        tuple[Count, ...], Field(description="Height, width and, for convolutions, channels of an image.")
    ] = (28, 28)
    latent: Annotated[Count, Field(description="Numbers in the code of an image.")] = 50
    hidden: Annotated[Count, Field(description="Width of the hidden layers, where they are dense.")] = 400
    channels: Annotated[tuple[Count, ...], Field(description="Channels after each convolution.")] = (32, 64, 128)
    start: Annotated[
        Start,
        Field(description="Standard deviation of first weights: 0.01, or sqrt(2 / (fan-in + fan-out))."),
    ] = "small"

    @model_validator(mode="after")
    def _image_fits(self) -> Self:
        halvings = 2 ** len(self.channels)
        sides = {side / halvings for side in self.image[:2]}
        if self.layers == "convolutions" and (len(self.image) != 3 or sides != {4}):
            raise ValueError(f"image should be {4 * halvings}, {4 * halvings} and its channels, for convolutions")
        return self


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Classifier:
    """A network that tells classes of images apart: dense, with one hidden layer, or of two convolutions."""

    name: Literal["classifier"] = "classifier"
    layers: Annotated[Layers, Field(description="What it is made of.")] = "dense"
    image: Annotated[tuple[Count, ...], Field(description="Height and width of an image.")] = (28, 28)
    pixels: Annotated[Pixels, Field(description="Whether bytes become numbers from -1 to 1, or from 0 to 1.")] = (
        "centred"
    )
    hidden: Annotated[Count, Field(description="Width of the hidden layer, where it is dense.")] = 1000
    classes: Annotated[Count, Field(description="Number of classes.")] = 10


@dataclass(frozen=True, kw_only=True, config=STRICT)
class GanModel:
    """A generator of images, and a discriminator that tells them from records, both of dense layers."""

    name: Literal["gan"] = "gan"
    image: Annotated[tuple[Count, ...], Field(description="Height and width of an image.")] = (28, 28)
    latent: Annotated[Count, Field(description="Numbers in the code of an image.")] = 100
    generator: Annotated[
        tuple[Count, ...],
        Field(description="Widths of the generator's hidden layers; all but the first are normalised by batches."),
    ] = (128, 256, 512, 1024)
    discriminator: Annotated[
        tuple[Count, ...], Field(description="Widths of the discriminator's hidden layers.")
    ] = (512, 256)


Model = Annotated[
    Logistic | Hierarchical | Mixture | Linear | Vae | Classifier | GanModel | TwoModes,
    Field(discriminator="name"),
]
