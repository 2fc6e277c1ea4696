"""What jobs ask of a cluster: which of them are sent as one, and which need a GPU."""

from dpinfer.plan import Plan


def group(plan: Plan, experiment: str, cell: str) -> str:
    """The group of a cell's jobs: its calibration and its fit are sent to a cluster as one.

    Cells that start from another fit are a group of their own, since jobs of one group that depend on each other
    are one: all such cells would have to wait for each other on one machine.
    """
    return "started" if plan.start_of(experiment, cell) else "cell"


def gpus(plan: Plan) -> int:
    """How many GPUs a job needs that computes with JAX; with the device `auto` it takes what it is given."""
    return int(plan.project.device == "gpu")
