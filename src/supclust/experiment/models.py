"""The import path of `TrainedModel` and `load` in version 0.1; they live in `supclust.model`."""

from supclust.model import TrainedModel, load

__all__ = ["TrainedModel", "load"]
