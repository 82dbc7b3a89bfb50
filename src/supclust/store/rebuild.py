"""A store from scratch, where its candidates are found in another way than before.

In a small table all pairs are candidates, in a large one those of rules. Where the number of
records passes the limit, all pairs are scored again; records keep the ids of their clusters.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from supclust.resolve.apply import id_order, score_values
from supclust.store.batch import columns_of
from supclust.store.constraints import links, require_consistent
from supclust.store.creation import clusters_table, scored_segment
from supclust.store.folder.state import State
from supclust.store.identity import matched_ids
from supclust.store.update import Change, Worked


def rebuilt(state: State, change: Change, all_pairs: bool) -> Worked:
    """Work a change out from scratch; the segment replaces all others.

    Args:
        state: before the change.
        change: what is to change.
        all_pairs: whether all pairs are candidates afterwards.
    """
    alive = state.alive.copy()
    alive[change.removed] = False
    kept = pa.array(np.flatnonzero(alive))
    ids = pa.concat_arrays([state.ids.take(kept), change.batch.ids])
    before = np.concatenate([state.cluster[alive], change.former(state)])
    order = id_order(ids)
    at, before = pa.array(order), before[order]
    ids = ids.take(at)
    whole = pa.concat_tables([state.values.take(kept), change.batch.values]).take(at)
    values, names = columns_of(whole), ids.to_pylist()
    must, cannot = links(change.constraints, {name: k for k, name in enumerate(names)})
    require_consistent(must, cannot, names)
    scored = score_values(values, state.model, (must, cannot))
    kinds = state.manifest.columns
    segment = scored_segment(state.model, ids, values, kinds, scored.edges, all_pairs)
    labels = scored.forest.labels_at(state.manifest.threshold)
    assigned, next_cluster = matched_ids(labels, before, state.manifest.next_cluster)
    after = assigned[labels]
    segment.tables["clusters"] = clusters_table(np.arange(len(after)), after)
    moves = change.moves(state, names, before, after)
    return Worked(segment, moves, next_cluster, scored.pairs, len(after))
