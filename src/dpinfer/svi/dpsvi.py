"""NumPyro's `SVI` with differential privacy."""

import math
from collections.abc import Callable
from typing import Any, Self

import jax
import jax.numpy as jnp
import optax
from numpyro.infer import SVI
from numpyro.infer.svi import SVIRunResult, SVIState

from dpinfer.accounting import accountant, calibrate
from dpinfer.accounting.events import Adjacency, Event, Repeat
from dpinfer.accounting.ledger import Ledger
from dpinfer.errors import InputError
from dpinfer.inference.alone import View, look
from dpinfer.inference.base import Algorithm
from dpinfer.inference.run import run
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.sampling.named import SamplerName
from dpinfer.svi.arguments import (
    agreed,
    divide,
    length,
    of_masked,
    refuse_forward_mode,
    refuse_informed_start,
    refuse_non_finite,
    refuse_optimiser,
    refuse_overspending,
    refuse_records,
    typed,
)
from dpinfer.svi.parts import cost_note, mechanism_of, sampled, sampler_of
from dpinfer.svi.step import Info, Problem, algorithm_of, record_loss, take_step
from dpinfer.types import Key


class DPSVI(SVI):
    """Variational inference on any NumPyro model whose records sit in a `plate`, with differential privacy.

    The interface is that of `numpyro.infer.SVI`. Positional arguments of `init`, `update`, `run` and `evaluate`
    are records: their leaves share a leading axis. Keyword arguments, those of the constructor among them, are
    constants of the model and the guide and are taken to be public.

    Each record's gradient of the negative ELBO is taken in units of that record's likelihood (so the threshold
    does not depend on how many records there are), scaled down to joint L2 norm `clipping_threshold`, summed,
    perturbed once by N(0, (dp_scale * clipping_threshold)^2), divided by the public expected batch size and handed
    to the optimiser. Losses that `update`, `run` and `evaluate` return are not perturbed: they are for your own
    eyes, and no epsilon covers them.

    Args:
        model: A NumPyro model, called with a batch; its plate over the records is of the size of all of them
            (`plate(name, N, batch_size)`) or of the batch (`plate(name, len(xs))`).
        guide: Its guide, written by hand or one of NumPyro's auto guides.
        optim: An optimiser of NumPyro, optax or JAX.
        loss: An ELBO of NumPyro.
        clipping_threshold: Largest norm of one record's gradient; infinite without noise.
        dp_scale: Noise standard deviation over clipping threshold; 0 runs without privacy.
        expected_batch: Expected batch size: of the samples that `run` draws, which sees all records in each step
            if it is None, and of masked batches given to `update`.
        sampler: How `run` draws batches: each record by its own coin, or a fixed number without replacement.
        num_records: Number of all records, where the plate has the size of the batch and `update` is used.
        shared_draw: Whether all records of a batch see one draw from the guide, as in NumPyro, or each its own,
            which lowers the variance of the gradient.
        micro_batch: How many records' gradients are held in memory at once; as many as fit by default.
        static_kwargs: Constants of model and guide.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        guide: Callable[..., Any],
        optim: Any,
        loss: Any,
        clipping_threshold: float,
        dp_scale: float,
        *,
        expected_batch: float | None = None,
        sampler: SamplerName = "poisson",
        num_records: int | None = None,
        shared_draw: bool = False,
        micro_batch: int | None = None,
        **static_kwargs: Any,
    ) -> None:
        super().__init__(model, guide, optim, loss, **static_kwargs)
        self.dp_scale = dp_scale
        self.mechanism = mechanism_of(clipping_threshold, dp_scale, micro_batch)
        self.expected_batch = expected_batch
        self.sampler = sampler
        self.num_records = num_records
        self.shared_draw = shared_draw
        self.most_steps: int | None = None
        self.unspent: Ledger | None = None
        self._view: View | None = None
        self._step = jax.jit(self._compiled_step, static_argnames=("public", "view"))

    @classmethod
    def calibrated(
        cls,
        model: Callable[..., Any],
        guide: Callable[..., Any],
        optim: Any,
        loss: Any,
        clipping_threshold: float = 1.0,
        *,
        epsilon: float,
        delta: float,
        num_records: int,
        num_steps: int,
        expected_batch: float | None = None,
        sampler: SamplerName = "poisson",
        adjacency: Adjacency = "add-remove",
        **others: Any,
    ) -> Self:
        """A DPSVI with the least noise for which `num_steps` steps of `run` are (epsilon, delta)-private.

        It refuses to take more steps than that. Others are arguments of the constructor.
        """
        drawn = sampler_of(sampler, num_records, expected_batch, num_steps)

        def event(noise_multiplier: float) -> Event:
            whole = gaussian(clipping_threshold, noise_multiplier).event
            return Repeat(event=drawn.event(whole), count=num_steps)

        dp_scale = calibrate.noise_multiplier(epsilon, delta, event, adjacency)
        own = cls(
            model, guide, optim, loss, clipping_threshold, dp_scale,
            expected_batch=expected_batch, sampler=sampler, num_records=num_records, **others,
        )  # fmt: skip
        own.most_steps = num_steps
        own.unspent = Ledger(adjacency=adjacency, delta=delta, budget=epsilon)
        return own

    def init(self, rng_key: Key, *args: Any, init_params: Any = None, **kwargs: Any) -> SVIState:
        """The first state; of the records, only shapes may enter it."""
        key = typed(rng_key)
        size = length(args)
        refuse_records(kwargs, size)
        first = jax.tree.map(lambda leaf: leaf[:1], args)
        alone = super().init(key, *first, init_params=init_params, **kwargs)
        if alone.mutable_state is not None:
            raise InputError("the model keeps mutable state, which would carry records past the noise")
        refuse_optimiser(self.optim, alone.optim_state)
        parameters = self.get_params(alone)
        view = look(self.model, self.guide, parameters, first, {**kwargs, **self.static_kwargs})
        if view.num_records is not None and size > view.num_records:
            raise InputError(f"the batch has {size} records, but the model's plate only {view.num_records}")
        state = super().init(key, *args, init_params=init_params, **kwargs)
        refuse_informed_start(parameters, self.get_params(state))
        self._view = view
        return state

    def update(
        self,
        svi_state: SVIState,
        *args: Any,
        mask: jax.Array | None = None,
        forward_mode_differentiation: bool = False,
        **kwargs: Any,
    ) -> tuple[SVIState, jax.Array]:
        """Take one step on a batch that was drawn at random.

        Args:
            svi_state: The state.
            args: The records of the batch.
            mask: (batch,) which of them count, for batches that are padded; then `expected_batch` is needed.
            forward_mode_differentiation: Not available.
            kwargs: Constants of model and guide.

        Raises:
            FloatingPointError: Where a gradient is not finite (unless `update` is itself being compiled).
        """
        refuse_forward_mode(forward_mode_differentiation)
        size = length(args)
        refuse_records(kwargs, size)
        expected = size if mask is None else of_masked(self.expected_batch)
        refuse_overspending(svi_state.optim_state[0], 1, self.most_steps)
        # As in NumPyro for the first two; the third is for the noise.
        rng_key, key, key_noise = jax.random.split(svi_state.rng_key, 3)
        noise = self.mechanism.random(key_noise, self.optim.get_params(svi_state.optim_state))
        counted = jnp.ones(size, bool) if mask is None else mask
        arrays, public = divide(kwargs)
        taken, info = self._step(
            arrays, key, noise, svi_state.optim_state, args, counted, expected, public=public, view=self._view
        )
        refuse_non_finite(info.finite)
        return SVIState(taken, None, rng_key), info.loss

    def stable_update(self, *args: Any, **kwargs: Any) -> Any:
        """Refused: whether a step is dropped would depend on the records, without noise."""
        del args, kwargs
        raise InputError(
            "stable_update drops steps by the records without noise: keep the loss finite, as by a prior or a clip"
        )

    def run(
        self,
        rng_key: Key,
        num_steps: int,
        *args: Any,
        progress_bar: bool = True,
        stable_update: bool = False,
        forward_mode_differentiation: bool = False,
        init_state: SVIState | None = None,
        init_params: Any = None,
        **kwargs: Any,
    ) -> SVIRunResult:
        """Take steps on batches drawn from all records, in one compiled loop.

        Args:
            rng_key: The key; not used with `init_state`, which has one of its own.
            num_steps: How many steps.
            args: All records.
            progress_bar: Whether to show one; where the noise was calibrated, it tells epsilon so far.
            stable_update: Refused, see `stable_update`.
            forward_mode_differentiation: Not available.
            init_state: Where to go on from.
            init_params: Values to start from instead of those of the guide.
            kwargs: Constants of model and guide.
        """
        if stable_update:
            self.stable_update()
        refuse_forward_mode(forward_mode_differentiation)
        if num_steps < 1:
            raise InputError(f"the number of steps is {num_steps}, but should be at least 1")
        state = init_state or self.init(rng_key, *args, init_params=init_params, **kwargs)
        taken = state.optim_state[0]
        refuse_overspending(taken, num_steps, self.most_steps)
        args = jax.tree.map(jnp.asarray, args)
        records: Any = {"args": args}
        algorithm = self.algorithm(state, num_steps, *args, **kwargs)
        done = run(
            algorithm, state.rng_key, records, num_steps,
            note=cost_note(self.unspent, algorithm, taken, self.most_steps),
            record=lambda state, info: info, record_every=1, progress=progress_bar,  # noqa: ARG005
        )  # fmt: skip
        refuse_non_finite(done.trace.finite)
        # The loop has used the keys of steps 1, 2, ...; 0 is left for what follows.
        last = SVIState(done.state, None, jax.random.fold_in(state.rng_key, 0))
        return SVIRunResult(self.get_params(last), last, jnp.asarray(done.trace.loss))

    def algorithm(self, svi_state: SVIState, num_steps: int, *args: Any, **kwargs: Any) -> Algorithm:
        """What `run` runs, for `inference.run` and `inference.run_seeds`, whose records are `{"args": args}`."""
        num_records = length(args)
        sampler = sampler_of(self.sampler, num_records, self.expected_batch, num_steps)
        problem = self._problem(self._view, {**kwargs, **self.static_kwargs}, num_records)
        example = jax.tree.map(lambda leaf: jnp.zeros_like(leaf[:1]), args)
        return algorithm_of(problem, svi_state.optim_state, sampler, example)

    def gradient_norms(self, rng_key: Key, svi_state: SVIState, *args: Any, **kwargs: Any) -> jax.Array:
        """(records,) norms of the gradients of some records before clipping: for your own eyes, not private."""
        gradient = jax.grad(record_loss(self._problem(self._view, {**kwargs, **self.static_kwargs}, None)))
        parameters = self.optim.get_params(svi_state.optim_state)
        examples = (jax.random.split(typed(rng_key), length(args)), jax.tree.map(jnp.asarray, args))
        return jax.lax.map(lambda own: optax.tree.norm(gradient(parameters, own)), examples)

    def get_epsilon(
        self,
        target_delta: float,
        q: float,
        num_epochs: float | None = None,
        num_iter: int | None = None,
        *,
        sampler: SamplerName | None = None,
        adjacency: Adjacency = "add-remove",
    ) -> float:
        """The epsilon that a number of steps spends at most, by a sound accountant (PLD).

        Args:
            target_delta: The delta.
            q: Share of the records in a batch; 1 where each step sees all.
            num_epochs: How often the data were gone through, or
            num_iter: how many steps were taken.
            sampler: How batches were drawn; by default as `run` draws them, or as `subsample_batchify_data` does
                where this object has no `expected_batch`.
            adjacency: Which data sets count as neighbours.
        """
        if (num_epochs is None) == (num_iter is None):
            raise InputError("exactly one of num_epochs and num_iter should be given")
        count = num_iter if num_iter is not None else math.ceil((num_epochs or 0) / q)
        drawn = sampler or ("subset" if self.expected_batch is None else self.sampler)
        event = Repeat(event=sampled(drawn, self.mechanism.event, q), count=count)
        return accountant("pld").epsilon(event, target_delta, adjacency).upper

    def _compiled_step(
        self, arrays: dict[str, Any], *arguments: Any, public: Any, view: View | None
    ) -> tuple[Any, Info]:
        return take_step(self._problem(view, {**arrays, **dict(public), **self.static_kwargs}, None), *arguments)

    def _problem(self, view: View | None, constants: dict[str, Any], num_records: int | None) -> Problem:
        """What is fitted to what; `num_records` is the size of the data, where all of them are at hand."""
        if view is None:
            raise InputError("the model has not been looked at yet: call init first")
        total = agreed({"model's plate": view.num_records, "data": num_records, "num_records": self.num_records})
        return Problem(
            self.model, self.guide, self.loss, self.optim, self.constrain_fn,
            self.mechanism, view, total, self.shared_draw, constants,
        )  # fmt: skip
