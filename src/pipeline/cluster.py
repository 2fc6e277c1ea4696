"""What jobs ask of a cluster: which of them are sent as one, and which need a GPU."""

from pipeline.plan import Plan


def group(plan: Plan, experiment: str) -> str:
    """The group of the jobs of a shard: its calibration, its fits and their accounts are sent to a cluster as one.

    Shards whose cells start from other fits are a group of their own, since jobs of one group that depend on each
    other are one: all such shards would have to wait for each other on one machine.
    """
    is_started = any(plan.starts_of(experiment, shard) for shard in plan.shards(experiment))
    return "started" if is_started else "shard"


def gpus(plan: Plan) -> int:
    """How many GPUs a job needs that computes with JAX; with the device `auto` it takes what it is given."""
    return int(plan.project.device == "gpu")
