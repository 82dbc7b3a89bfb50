"""Trees -> flat clusters: one threshold, the best tree-consistent partition, and a learned cut."""

from supclust.cut.partition import best_partition as best_partition
from supclust.cut.partition import best_partitions as best_partitions
from supclust.cut.partition import ceiling as ceiling
from supclust.cut.partition import ceilings as ceilings
