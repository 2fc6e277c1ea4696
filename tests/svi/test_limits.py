"""Without clipping and noise, DPSVI is SVI: the same states on the same batches."""

import math
from typing import Any

import jax
import numpy as np
import pytest
from numpyro.infer import SVI, Trace_ELBO, TraceMeanField_ELBO
from numpyro.infer.autoguide import AutoDiagonalNormal, AutoMultivariateNormal, AutoNormal
from numpyro.optim import Adam

from dpinfer.svi import DPSVI, subsample_batchify_data
from svi import programs as p

CASES: dict[str, Any] = {
    "by hand": (p.simple, p.simple_guide, (p.XS, p.YS), {"N": p.N}, Trace_ELBO()),
    "auto guide": (p.simple, AutoDiagonalNormal(p.simple), (p.XS, p.YS), {"N": p.N}, Trace_ELBO()),
    "several plates": (
        p.hierarchical, p.hierarchical_guide, (p.XS, p.YS, p.GROUP), {"gs": p.GS, "N": p.N}, Trace_ELBO(),
    ),
    "auto guide, several plates": (
        p.hierarchical, AutoNormal(p.hierarchical), (p.XS, p.YS, p.GROUP), {"gs": p.GS, "N": p.N},
        TraceMeanField_ELBO(),
    ),
}  # fmt: skip


def trajectory(svi: SVI, batches: list[Any]) -> tuple[Any, np.ndarray]:
    state = svi.init(jax.random.key(5), *batches[0])
    update = jax.jit(svi.update)
    losses = []
    for batch in batches:
        state, loss = update(state, *batch)
        losses.append(float(loss))
    return svi.get_params(state), np.array(losses)


def assert_same(model: Any, guide: Any, batches: list[Any], elbo: Any, numbers: Any, **constants: Any) -> None:
    plain = SVI(model, guide, Adam(0.01), elbo, **constants)
    private = DPSVI(model, guide, Adam(0.01), elbo, math.inf, 0.0, shared_draw=True, **numbers, **constants)
    (expected, losses), (ours, our_losses) = (trajectory(svi, batches) for svi in (plain, private))
    np.testing.assert_allclose(our_losses, losses, rtol=2e-5)
    assert expected.keys() == ours.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(ours[name], value, rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("case", CASES)
def test_on_minibatches(case: str) -> None:
    model, guide, records, constants, elbo = CASES[case]
    init, get_batch = subsample_batchify_data(records, 20)
    _, state = init(jax.random.key(1))
    batches = [get_batch(step, state) for step in range(25)]
    assert_same(model, guide, batches, elbo, {}, **constants)


@pytest.mark.parametrize("guide", [AutoNormal, AutoMultivariateNormal])
def test_on_all_records_where_the_plate_follows_the_batch(guide: Any) -> None:
    assert_same(p.nested, guide(p.nested), [(p.XS,)] * 25, Trace_ELBO(), {"num_records": p.N})


def test_another_clip_gives_another_trajectory() -> None:
    batches = [(p.XS, p.YS)] * 5
    open_ended, clipped = (
        trajectory(
            DPSVI(p.simple, p.simple_guide, Adam(0.01), Trace_ELBO(), clip, 0.0, shared_draw=True, N=p.N), batches
        )[0]
        for clip in (math.inf, 0.01)
    )
    assert not np.allclose(open_ended["w_loc"], clipped["w_loc"], atol=1e-4)
