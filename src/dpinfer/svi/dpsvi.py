"""NumPyro's `SVI` with differential privacy."""

import math
import warnings
from collections.abc import Callable
from typing import Any, Self

import jax
import jax.numpy as jnp
import optax
from numpyro.infer.svi import SVIRunResult

from dpinfer.accounting import accountant, calibrate
from dpinfer.accounting.base import worst
from dpinfer.accounting.budget import Budget, budget_of
from dpinfer.accounting.events import Event, Relation, Repeat
from dpinfer.clipping.sums import require_precision
from dpinfer.errors import InputError
from dpinfer.inference.base import Algorithm
from dpinfer.inference.one_record import View
from dpinfer.inference.run import run
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.random.chacha import require_system_key
from dpinfer.random.keys import digest, fold
from dpinfer.sampling.by_name import SamplerName
from dpinfer.sampling.poisson import poisson
from dpinfer.svi.arguments import (
    agreed,
    divide,
    length,
    mask_of,
    of_masked,
    refuse_elbo,
    refuse_forward_mode,
    refuse_non_finite,
    refuse_records,
    typed,
)
from dpinfer.svi.charge import (
    UNLIMITED,
    DPSVIState,
    Kind,
    Payer,
    free,
    is_traced,
    warn_of_delta,
    warn_of_noise,
)
from dpinfer.svi.mechanism_and_sampler import cost_note, mechanism_of, most_records_of, sampled, sampler_of
from dpinfer.svi.start import StartedOnDummies
from dpinfer.svi.step import Problem, algorithm_of, record_loss, take_step
from dpinfer.tree import size
from dpinfer.types import Key, Tree

FAR_OFF = 0.05
"""Share by which the number of records may differ from the stated one without a word."""
FIXED = frozenset({"dp_scale", "expected_batch", "mechanism", "num_records", "release", "sampler", "_payer"})
"""Attributes that the account rests on."""


class DPSVI(StartedOnDummies):
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
        num_records: Number of all records, which is public. With it, Poisson batches are drawn at the rate
            `expected_batch` / `num_records`, however many records there really are.
        shared_draw: Whether all records of a batch see one draw from the guide, as in NumPyro, or each its own,
            which lowers the variance of the gradient.
        micro_batch: How many records' gradients are held in memory at once; as many as fit by default.
        budget: What all steps are paid from; they are refused where it has not enough left. `init` pays for
            `num_steps` of them, or for as many as it has left, and `run` for those it takes.
        num_steps: See `budget`.
        release: Whether noise is drawn for a release, on a grid and from a key that nobody knows (`system_key`).
        dummies: Three made-up records or more, for models that cannot be run on numbers between 0.1 and 0.9 and on
            whole numbers 0 and 1. Models are looked at and started on made-up records, never on those to be kept.
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
        budget: Budget | None = None,
        num_steps: int | None = None,
        release: bool = False,
        dummies: tuple[Tree, ...] | None = None,
        **static_kwargs: Any,
    ) -> None:
        super().__init__(model, guide, optim, loss, **static_kwargs)
        refuse_elbo(loss)
        self.dp_scale = dp_scale
        most = most_records_of(sampler, num_records, expected_batch) if release else None
        self.mechanism = mechanism_of(clipping_threshold, dp_scale, micro_batch, most)
        self.release = release
        self.expected_batch = expected_batch
        self.sampler = sampler
        self.num_records = num_records
        self.shared_draw = shared_draw
        self.dummies = dummies
        self._payer = None if budget is None else Payer(budget, num_steps)
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
        num_records: int,
        num_steps: int,
        epsilon: float | None = None,
        delta: float | None = None,
        budget: Budget | None = None,
        expected_batch: float | None = None,
        sampler: SamplerName = "poisson",
        adjacency: Relation | None = None,
        **others: Any,
    ) -> Self:
        """A DPSVI with the least noise for which `num_steps` steps are (epsilon, delta)-private.

        Nothing that is called afterwards takes more steps on the records than that, or other batches. With a
        `budget`, from which other inference on the same records may be paid as well, delta and adjacency are its
        own, and without an epsilon the steps take all that it has left. Adjacency is add-remove by default. Others
        are arguments of the constructor.
        """
        if budget is None and (epsilon is None or delta is None):
            raise InputError("either epsilon and delta should be given, or a budget")
        budget = budget_of(budget if budget is not None else epsilon, delta, adjacency)
        assert budget is not None
        drawn = sampler_of(sampler, num_records, expected_batch, num_steps)

        def event(noise_multiplier: float) -> Event:
            whole = gaussian(clipping_threshold, noise_multiplier).event
            return Repeat(event=drawn.event(whole), count=num_steps)

        warn_of_delta(budget.delta, num_records)
        dp_scale = (
            budget.noise_multiplier(event)
            if epsilon is None
            else calibrate.noise_multiplier(epsilon, budget.delta, event, budget.adjacency)
        )
        return cls(
            model, guide, optim, loss, clipping_threshold, dp_scale,
            expected_batch=expected_batch, sampler=sampler, num_records=num_records,
            budget=budget, num_steps=num_steps, **others,
        )  # fmt: skip

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; those that the account rests on are set once."""
        if name in FIXED and name in self.__dict__:
            raise InputError(f"{name} is what the account rests on, and stays as it is: make another DPSVI")
        super().__setattr__(name, value)

    @property
    def budget(self) -> Budget | None:
        """What all steps are paid from."""
        return None if self._payer is None else self._payer.budget

    def init(self, rng_key: Key, *args: Any, init_params: Any = None, **kwargs: Any) -> DPSVIState:
        """The first state, of which nothing follows from the records but their shapes; pays for all its steps."""
        if self._payer is not None and is_traced(rng_key):
            raise InputError("a budget cannot be charged while init is being compiled: call it outside of jit")
        state = self._start(rng_key, *args, init_params=init_params, **kwargs)
        if self._payer is None:
            return state
        return self._payer.started(state, self._event())

    def _start(self, rng_key: Key, *args: Any, init_params: Any, **kwargs: Any) -> DPSVIState:
        """A state that is not paid for."""
        key = typed(rng_key)
        if self.release:
            require_system_key(key)
        count = length(args)
        refuse_records(kwargs, count, self.num_records)
        view, state = self.started(key, args, init_params, kwargs, self.dummies)
        if view.num_records is not None and count > view.num_records:
            raise InputError(f"the batch has {count} records, but the model's plate only {view.num_records}")
        self._view = view
        known = self.num_records or view.num_records or count
        parameters = self.optim.get_params(state.optim_state)
        require_precision(parameters)
        warn_of_noise(self.dp_scale, size(parameters), self.expected_batch or known)
        return free(state)

    def _event(self) -> Event:
        """What one step tells about the records."""
        drawn = sampler_of(self.sampler, self._total(None), self.expected_batch, 1)
        return drawn.event(self.mechanism.event)

    def _look(self, state: DPSVIState, args: Any, kwargs: dict[str, Any]) -> None:
        """Look at the model where no `init` has, as with a state that another process has left."""
        if self._view is None:
            self._view = self.started(state.rng_key, args, None, kwargs, self.dummies)[0]

    def update(
        self,
        svi_state: DPSVIState,
        *args: Any,
        mask: jax.Array | None = None,
        forward_mode_differentiation: bool = False,
        **kwargs: Any,
    ) -> tuple[DPSVIState, jax.Array]:
        """Take one step on a batch that was drawn at random.

        Args:
            svi_state: The state.
            args: The records of the batch.
            mask: (batch,) which of them count, for batches that are padded; then `expected_batch` is needed.
            forward_mode_differentiation: Not available.
            kwargs: Constants of model and guide.

        Where there is a budget, batches of another kind than its account speaks of, steps that are not paid for
        and states that have been used before are refused; while `update` is itself being compiled, such a step
        returns the state as it was, and a loss that is not a number.
        """
        refuse_forward_mode(forward_mode_differentiation)
        count = length(args)
        counted = mask_of(mask, count)
        refuse_records(kwargs, count, self.num_records)
        self._look(svi_state, args, kwargs)
        expected = count if mask is None else of_masked(self.expected_batch)
        arrays, public = divide(kwargs)
        after, loss, checks = self._step(
            arrays,
            svi_state,
            args,
            counted,
            expected,
            self._fits(count, None if mask is None else counted),
            public=public,
            view=self._view,
        )
        if self._payer is not None:
            self._payer.refuse(svi_state, checks)
        return after, loss

    def _fits(self, count: int, mask: jax.Array | None) -> bool | jax.Array:
        """Whether a batch is of the kind that was paid for."""
        if self._payer is None:
            return True
        planned = self._payer.num_steps or UNLIMITED
        return Kind(self.sampler, self._total(None), self.expected_batch, planned).is_met(count, mask)

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
        init_state: DPSVIState | None = None,
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
        if any(map(is_traced, jax.tree.leaves((jnp.zeros(()), rng_key, args, init_state)))):
            raise InputError(
                "run compiles its own loop, and pays for it when it begins: call it outside of jit and vmap"
            )
        state = init_state or self._start(rng_key, *args, init_params=init_params, **kwargs)
        taken = int(state.optim_state[0])
        args = jax.tree.map(jnp.asarray, args)
        records: Any = {"args": args}
        self._look(state, args, kwargs)
        algorithm = self._algorithm(state, num_steps, *args, **kwargs)
        if self._payer is not None:
            one: Any = algorithm.event(1)
            state = self._payer.gone_on(state, one.event, num_steps)
        note = cost_note(self.budget, algorithm, taken, int(state.granted))
        done = run(
            algorithm, state.rng_key, records, num_steps, note=note,
            record=lambda state, loss: loss, record_every=1, progress=progress_bar,  # noqa: ARG005
        )  # fmt: skip
        # The loop has used the keys of steps 1, 2, ...; 0 is left for what follows.
        last = state._replace(optim_state=done.state, rng_key=jax.random.fold_in(state.rng_key, 0))
        parameters = self.get_params(last)
        refuse_non_finite(parameters, taken + num_steps)
        return SVIRunResult(parameters, last, jnp.asarray(done.trace))

    def algorithm(self, svi_state: DPSVIState, num_steps: int, *args: Any, **kwargs: Any) -> Algorithm:
        """What `run` runs, for `inference.run` and `inference.run_seeds`, whose records are `{"args": args}`.

        They pay from the budget that they are given. So where there is one here, it is refused: its steps would be
        paid for twice, or not at all.
        """
        if self._payer is not None:
            raise InputError("steps of this object are paid for from its budget by run, init and update alone")
        return self._algorithm(svi_state, num_steps, *args, **kwargs)

    def _algorithm(self, svi_state: DPSVIState, num_steps: int, *args: Any, **kwargs: Any) -> Algorithm:
        count = length(args)
        problem = self._problem(self._view, {**kwargs, **self.static_kwargs}, count)
        sampler = sampler_of(self.sampler, count, self.expected_batch, num_steps)
        if problem.num_records != count:
            assert self.expected_batch is not None
            sampler = poisson(count, self.expected_batch / problem.num_records, num_steps)
            sampler = sampler._replace(expected=self.expected_batch)
        example = jax.tree.map(lambda leaf: jnp.zeros_like(leaf[:1]), args)
        return algorithm_of(problem, svi_state.optim_state, sampler, example)

    def gradient_norms(self, rng_key: Key, svi_state: DPSVIState, *args: Any, **kwargs: Any) -> jax.Array:
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
        adjacency: Relation = "add-remove",
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
        return worst(accountant("pld"), event, target_delta, adjacency).upper

    def _compiled_step(
        self, arrays: Any, state: Any, args: Any, mask: jax.Array, expected: Any, fits: Any,
        *, public: Any, view: View | None,
    ) -> tuple[DPSVIState, jax.Array, dict[str, jax.Array]]:  # fmt: skip
        problem = self._problem(view, {**arrays, **dict(public), **self.static_kwargs}, None)
        parameters = self.optim.get_params(state.optim_state)
        # As in NumPyro for the first two; the third is for the noise.
        rng_key, key, key_noise = jax.random.split(state.rng_key, 3)
        # From one state, updates on two batches would else differ by the batches alone, without any noise.
        key_noise = fold(key_noise, digest((parameters, args, mask)))
        checks = {} if self._payer is None else self._payer.checks(state, self._event(), fits, key_noise)

        def taken() -> tuple[DPSVIState, jax.Array]:
            noise = self.mechanism.random(key_noise, parameters)
            moved, loss = take_step(problem, key, noise, state.optim_state, args, mask, expected)
            return state._replace(optim_state=moved, rng_key=rng_key), loss

        if not checks:
            return *taken(), checks
        loss = jax.eval_shape(taken)[1]
        allowed = jnp.stack(list(checks.values())).all()
        return *jax.lax.cond(allowed, taken, lambda: (state, jnp.full((), jnp.nan, loss.dtype))), checks

    def _problem(self, view: View | None, constants: dict[str, Any], num_records: int | None) -> Problem:
        """What is fitted to what; `num_records` is the size of the data, where all of them are at hand."""
        if view is None:
            raise InputError("the model has not been looked at yet: call init first")
        return Problem(
            self.model, self.guide, self.loss, self.optim, self.constrain_fn,
            self.mechanism, view, self._total(num_records), self.shared_draw, constants,
        )  # fmt: skip

    def _total(self, count: int | None) -> int:
        """The public number of all records; Poisson batches may be drawn from more or fewer."""
        plate = None if self._view is None else self._view.num_records
        stated = {"model's plate": plate, "num_records": self.num_records}
        is_free = self.num_records is not None and self.expected_batch is not None and self.sampler == "poisson"
        if count is None or not is_free:
            return agreed({"model's plate": plate, "data": count, "num_records": self.num_records})
        total = agreed(stated)
        if abs(count - total) > FAR_OFF * total:
            warnings.warn(
                f"there are {count} records, but {total} are stated as their public number", stacklevel=4
            )
        return total
