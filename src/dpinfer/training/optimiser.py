"""Optimisers of optax, made private: they see of the records only clipped sums of gradients with noise."""

import math
from functools import lru_cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from dpinfer import accounting
from dpinfer.accounting.base import worst
from dpinfer.accounting.budget import Budget, claimed
from dpinfer.accounting.events import Compose, Repeat
from dpinfer.accounting.ledger import BudgetExceededError, Ledger
from dpinfer.atomic import to_json
from dpinfer.errors import InputError
from dpinfer.mechanism.base import Mechanism
from dpinfer.random.chacha import require_system_key
from dpinfer.random.keys import digest, fold
from dpinfer.random.threefry import generator
from dpinfer.sampling.base import Batch as Places
from dpinfer.sampling.base import Sampler
from dpinfer.training import checkpoint
from dpinfer.training.checks import program_of, require_optimiser, require_parameters
from dpinfer.training.settings import Settings
from dpinfer.training.state import Batch, State, is_compiling, is_traced
from dpinfer.training.streams import BATCH, NOISE, RUN, STEP, TAG, fingerprint, of_program
from dpinfer.types import Key, Loss, Tree

MOST_STEPS = 10_000_000
"""Of which no Poisson batch may overflow; it costs nothing to allow for many."""


class Optimiser:
    """An optimiser that knows what its steps cost; made by `private`, `dpsgd` and the like.

    Guarantee: the parameters of all states from one `init`, on batches from a `Loader`, are
    (`epsilon(state)`, delta)-private for the records, whether steps are called one by one, compiled, scanned,
    mapped or gone on with after a checkpoint. A step is a function of state and batch: taken twice it gives the
    same release twice, which tells nothing new. It is refused, or inside of `jax.jit` leaves the state as it is,
    where it has not been paid for or its batch was drawn for another state.

    What is paid for is one line of states. Going back to an earlier one and on in another way, with another
    learning rate or other records, is a second run, to be paid for by an `init`; a budget refuses it else, within
    a process.

    Attributes:
        settings: What the account rests on.
        noise_multiplier: Noise standard deviation over clip.
        budget: What the steps are paid from, or None.
        num_steps: How many steps a run is granted; None where a run may use all that the budget has left.
    """

    def __init__(
        self,
        optimiser: optax.GradientTransformation,
        loss: Loss,
        mechanism: Mechanism,
        sampler: Sampler,
        settings: Settings,
        noise_multiplier: float,
        budget: Budget | None,
        num_steps: int | None,
        accountant: str,
    ) -> None:
        self.settings, self.budget, self.num_steps = settings, budget, num_steps
        self.noise_multiplier = noise_multiplier
        self._optimiser, self._sampler = optimiser, sampler
        self._accountant = accounting.accountant(accountant)
        words = fingerprint(to_json(settings.to_dict()))
        self._words, self._owner = words, words[0]
        empty = Ledger(adjacency=settings.adjacency, delta=settings.delta)
        self._whole = lru_cache(lambda granted: self._booked(empty, granted).sound().upper)
        # An account that cannot be made is refused here, before any step.
        self._epsilon((1,))

        def moved(state: State, batch: Batch, key: Key) -> State:
            noise = mechanism.random(key, state.parameters)
            released = mechanism.release(noise, loss, state.parameters, batch.records, batch.mask)
            gradient = jax.tree.map(lambda leaf: leaf / sampler.expected, released)
            change, memory = optimiser.update(gradient, state.memory, state.parameters)
            parameters = optax.apply_updates(state.parameters, change)
            new = state._replace(parameters=parameters, memory=memory, step=state.step + 1)
            return jax.tree.map(
                lambda own, old: own if own.dtype == old.dtype else own.astype(old.dtype), new, state
            )

        def taken(state: State, batch: Batch) -> tuple[State, dict[str, jax.Array]]:
            program = program_of(loss, state.parameters, batch.records)
            at = digest(state.parameters)
            checks = {
                "owner": state.owner == jnp.uint32(self._owner),
                "granted": state.step < state.granted,
                "step": state.step == batch.step,
                "tag": batch.tag == self._tag(state, at),
            }
            known = jnp.asarray(words, jnp.uint32), of_program(program), state.step, at
            key = fold(state.key, NOISE, *known, digest((batch.records, batch.mask)))
            if budget is not None:
                in_order = jnp.stack(list(checks.values())).all()
                checks["only"] = claimed(budget, fold(state.key, STEP, state.step), key, in_order)
            # A branch is a program of its own, so that a step is rounded in the same way whatever is around it.
            allowed = jnp.stack(list(checks.values())).all()
            return jax.lax.cond(allowed, moved, lambda state, *_: state, state, batch, key), checks

        self._taken = jax.jit(taken)
        self._places = jax.jit(self._drawn)

    def init(self, parameters: Tree, key: Key) -> State:
        """The state at the start; where there is a budget, all steps of the run are paid for here.

        Args:
            parameters: Arrays in any nesting; they are released with the run, so no record may have shaped them.
            key: For batches and noise of all steps.

        Raises:
            BudgetExceededError: There is not enough left; then nothing is spent.
        """
        require_parameters(parameters)
        strong = jax.tree.map(_strong, parameters)
        memory = jax.tree.map(_strong, self._optimiser.init(strong))
        require_optimiser(self._optimiser, strong, memory)
        own = typed(key)
        if self.settings.release:
            require_system_key(own)
        granted = self.num_steps or MOST_STEPS
        if self.budget is not None:
            if is_compiling() or is_traced((parameters, key)):
                raise InputError(
                    "init charges the budget, which a program cannot do each time it is run: call init outside of "
                    "jit, vmap and scan"
                )
            own = fold(own, RUN, len(self.budget.ledger.entries))
            granted = self._pay(self.budget, own)
        return State(strong, memory, own, jnp.int32(0), jnp.int32(granted), jnp.uint32(self._owner))

    def step(self, state: State, batch: Batch) -> State:
        """Take one step on the batch that was drawn for a state.

        Inside of `jit`, `scan` and `vmap` nothing can be raised: what is refused leaves the state as it is.

        Raises:
            BudgetExceededError: The steps that were paid for have been taken.
        """
        _require_one(state)
        moved, checks = self._taken(state, batch)
        if not is_traced(checks):
            self._refuse(state, batch, {name for name, passed in jax.device_get(checks).items() if not passed})
        return moved

    def epsilon(self, state: State, ahead: int = 0) -> float:
        """What the steps of a state cost, those of all runs where it is of several.

        It is never more than what all steps that were paid for cost together by `pld`.

        Args:
            state: The state.
            ahead: How many steps more, of each run.
        """
        steps = tuple(count + ahead for count in self._steps(state))
        granted = tuple(np.ravel(state.granted).tolist())
        within = all(count <= most < MOST_STEPS for count, most in zip(steps, granted, strict=True))
        return min(self._epsilon(steps), self._whole(granted) if within and any(steps) else math.inf)

    def ledger(self, state: State) -> Ledger:
        """The steps of a state, for a record of what was spent: its sound epsilon is by `pld`."""
        ledger = Ledger(
            adjacency=self.settings.adjacency, delta=self.settings.delta, generator=generator(state.key)
        )
        return self._booked(ledger, self._steps(state))

    def save(self, path: Path | str, state: State) -> None:
        """Write a state to an .npz file, all or nothing, from which `load` goes on.

        The file holds the key, by which the noise can be taken off: keep it secret (others may not read it, its
        mode is 0600), and delete it after the run.
        """
        checkpoint.write(Path(path), state, self.settings.to_dict())

    def load(self, path: Path | str, parameters: Tree) -> State:
        """The state that `save` wrote; its run goes on as if nothing had come between, its account included.

        Its steps have been paid for: a budget that knows of the run, such as one in a file, is not charged again.
        One that does not, as after a new start of the program, is charged for it once.

        Args:
            path: The file.
            parameters: In the structure and shapes of those that were trained; their values do not matter.
        """
        require_parameters(parameters)
        like = jax.eval_shape(lambda own: (own, self._optimiser.init(own)), jax.tree.map(_strong, parameters))
        state = checkpoint.read(Path(path), like[0], like[1], self.settings.to_dict())
        for key, granted in zip(jnp.ravel(state.key), np.ravel(state.granted).tolist(), strict=True):
            known = () if self.budget is None else self.budget.ledger.entries
            if self.budget is not None and _name(key) not in {entry.what for entry in known}:
                self.budget.spend(Repeat(event=self.settings.event, count=granted), _name(key), generator(key))
        return state

    def places(self, state: State) -> tuple[Places, jax.Array]:
        """The rows of the batch of a state's next step, and its tag; `Loader` fills them with records."""
        _require_one(state)
        return self._places(state)

    def _drawn(self, state: State) -> tuple[Places, jax.Array]:
        at = digest(state.parameters)
        key = fold(state.key, BATCH, *self._words, state.step, at)
        return self._sampler.draw(key), self._tag(state, at)

    def _tag(self, state: State, at: jax.Array) -> jax.Array:
        return jax.random.bits(fold(state.key, TAG, *self._words, state.step, at), dtype=jnp.uint32)

    def _pay(self, budget: Budget, key: Key) -> int:
        """Spend the steps of a run, and say how many they are."""
        if self.num_steps is None and budget.epsilon == math.inf:
            raise InputError("num_steps is needed where the budget has no limit: it says how many steps to book")
        steps = self.num_steps or min(budget.most_steps(self.settings.event), MOST_STEPS)
        if steps == 0:
            raise BudgetExceededError(f"{budget} has not enough left for a single step of training")
        budget.spend(Repeat(event=self.settings.event, count=steps), _name(key), generator(key))
        return steps

    def _refuse(self, state: State, batch: Batch, failed: set[str]) -> None:
        if "owner" in failed:
            raise InputError("the state is of an optimiser with other settings, whose steps cost something else")
        if "granted" in failed:
            raise BudgetExceededError(
                f"all {int(state.granted)} steps that were paid for have been taken, so that no further one may be"
            )
        if "step" in failed:
            raise InputError(
                f"the batch was drawn for step {int(batch.step)}, but the state is at step {int(state.step)}: "
                "take a new batch from the loader for every step"
            )
        if "tag" in failed:
            raise InputError("the batch was drawn for another state: take it from the loader by this state")
        if "only" in failed:
            raise BudgetExceededError(
                f"step {int(state.step)} of this run has been taken in another way, and only one is paid for: "
                "call init for a second run"
            )

    def _booked(self, ledger: Ledger, steps: tuple[int, ...]) -> Ledger:
        for count in filter(None, steps):
            ledger = ledger.spend(Repeat(event=self.settings.event, count=count), "training")
        return ledger

    def _steps(self, state: State) -> tuple[int, ...]:
        if is_traced(state.step):
            raise InputError("what steps cost is computed in Python: ask for it outside of jit, vmap and scan")
        return tuple(np.ravel(state.step).tolist())

    def _epsilon(self, steps: tuple[int, ...]) -> float:
        # Each run has its own room for batches, so that each is an event of its own.
        event = Compose(tuple(Repeat(event=self.settings.event, count=count) for count in steps))
        return float(worst(self._accountant, event, self.settings.delta, self.settings.adjacency).upper)


def typed(key: Key) -> Key:
    """A key of JAX's newer kind; words alone are taken for one of the default kind."""
    return key if jnp.issubdtype(key.dtype, jax.dtypes.prng_key) else jax.random.wrap_key_data(key)


def _name(key: Key) -> str:
    """What a budget calls a run: words drawn by its key tell nothing about others drawn by it."""
    first, second = jax.random.bits(fold(key, RUN), (2,), jnp.uint32).tolist()
    return f"training, run {first:08x}{second:08x}"


def _require_one(state: State) -> None:
    if jnp.ndim(state.step) != 0:
        raise InputError(f"the state is of {jnp.shape(state.step)[0]} runs: take their steps under jax.vmap")


def _strong(leaf: Any) -> jax.Array:
    """An array whose type does not give way to others', so that it is the same after a step as before."""
    value = jnp.asarray(leaf)
    return value if jnp.issubdtype(value.dtype, jax.dtypes.prng_key) else jnp.asarray(value, value.dtype)
