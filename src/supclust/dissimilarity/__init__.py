"""Features of points or of pairs -> dissimilarities (b, n, n), for one model or S at once."""

from typing import TYPE_CHECKING

from supclust._lazy import attach

if TYPE_CHECKING:
    from supclust.dissimilarity.base import Dissimilarity as Dissimilarity
    from supclust.dissimilarity.encoder import Encoder as Encoder
    from supclust.dissimilarity.linear import LinearPair as LinearPair
    from supclust.dissimilarity.mahalanobis import Mahalanobis as Mahalanobis
    from supclust.dissimilarity.stacked import Stacked as Stacked

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "base": ("Dissimilarity",),
        "encoder": ("Encoder",),
        "linear": ("LinearPair",),
        "mahalanobis": ("Mahalanobis",),
        "stacked": ("Stacked",),
    },
)
