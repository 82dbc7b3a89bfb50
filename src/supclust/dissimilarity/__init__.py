"""Features of points or of pairs -> dissimilarities (b, n, n), for one model or S at once."""

from supclust.dissimilarity.base import Dissimilarity
from supclust.dissimilarity.encoder import Encoder
from supclust.dissimilarity.linear import LinearPair
from supclust.dissimilarity.mahalanobis import Mahalanobis

__all__ = ["Dissimilarity", "Encoder", "LinearPair", "Mahalanobis"]
