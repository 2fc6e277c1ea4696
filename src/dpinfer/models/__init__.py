"""Models: one module for each, which bears the name used in the settings and has `build(settings)`."""

import importlib

from dpinfer.models.base import Model
from dpinfer.settings.model import Model as ModelSettings


def build(settings: ModelSettings) -> Model:
    """Build the model that `settings` names."""
    model: Model = importlib.import_module(f"{__name__}.{settings.name}").build(settings)
    return model
