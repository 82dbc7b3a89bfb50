"""Passes over the whole matrix: merge all reciprocal neighbours at once, compact, search.

A pass reads every row once and writes it back shorter, in order, so it runs at the speed of memory
and over several threads: each new row is made from one or two old rows that no other new row needs.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from supclust.hac._chase import refresh_row
from supclust.hac._rows import (
    LINEAR,
    LOG,
    MAX,
    MEAN,
    merge_entry,
    merge_rows,
    weigh,
)
from supclust.hac._vector import argmin, larger


@njit(cache=True, nogil=True, error_model="numpy")
def nearest_of_points(matrix, known, nearest, distance, start, stop):
    """Find the nearest other point (lowest index at ties) of rows ``start`` to ``stop``.

    Where the nearest of the points before each is ``known``, it stands in ``nearest`` already.
    """
    n = matrix.shape[0]
    for i in range(start, stop):
        row = matrix[i]
        best = -1
        if i > 0:
            best = np.int64(nearest[i]) if known else argmin(row, 0, i)
        if i + 1 < n:
            after = i + 1 + argmin(row, i + 1, n - i - 1)
            if best < 0 or row[after] < row[best]:
                best = after
        nearest[i] = best
        distance[i] = row[best]


@njit(cache=True, nogil=True, error_model="numpy")
def pair_up(nearest, alive, first, second):
    """List the clusters after merging reciprocal neighbours, by one or two members (or -1).

    Returns:
        The number of clusters listed, and the number of pairs among them.
    """
    count = 0
    pairs = 0
    for i in range(nearest.size):
        if not alive[i]:
            continue
        mate = nearest[i]
        if mate >= 0 and nearest[mate] == i:
            if mate < i:
                continue
            second[count] = mate
            pairs += 1
        else:
            second[count] = -1
        first[count] = i
        count += 1
    return count, pairs


@njit(cache=True, nogil=True, error_model="numpy")
def _merge_four(form, uc, w_uc, ud, w_ud, vc, w_vc, vd, w_vd, share_row, share_col, alpha, one):
    """Merge rows u, v and columns c, d at once, in an order that transposing does not change."""
    if form == MAX:
        return max(max(uc, vd), max(ud, vc)), one
    least = min(min(uc, vd), min(ud, vc))
    if form == MEAN:
        rest_row = one - share_row
        rest_col = one - share_col
        mean = (rest_row * rest_col * uc + share_row * share_col * vd) + (
            rest_row * share_col * ud + share_row * rest_col * vc
        )
        return max(mean, least), one
    top = one
    if form == LOG:
        w_uc = w_uc + alpha * (uc - least)
        w_ud = w_ud + alpha * (ud - least)
        w_vc = w_vc + alpha * (vc - least)
        w_vd = w_vd + alpha * (vd - least)
        top = max(max(w_uc, w_vd), max(w_ud, w_vc))
        w_uc = np.exp(w_uc - top)
        w_ud = np.exp(w_ud - top)
        w_vc = np.exp(w_vc - top)
        w_vd = np.exp(w_vd - top)
    total = (w_uc + w_vd) + (w_ud + w_vc)
    part = one / total
    mean = ((w_uc * part) * uc + (w_vd * part) * vd) + ((w_ud * part) * ud + (w_vc * part) * vc)
    if form == LOG:
        total = (top + np.log(total)) + alpha * (least - mean)
    return max(mean, least), total


@njit(cache=True, nogil=True, error_model="numpy")
def _merge_four_lists(form, u, w_u, ud, w_ud, v, w_v, vd, w_vd, share, shares, alpha):
    """Merge four lists into u, entry by entry, with their weights.

    ``share`` is the share of v and ``vd``, ``shares`` those of ``ud`` and ``vd``.
    """
    one = u.dtype.type(1.0)
    if form == MAX:
        for k in range(u.size):
            u[k] = larger(larger(u[k], vd[k]), larger(ud[k], v[k]))
    elif form == MEAN:
        for k in range(u.size):
            u[k], _ = _merge_four(
                MEAN, u[k], one, ud[k], one, v[k], one, vd[k], one, share, shares[k], one, one
            )
    elif form == LINEAR:
        for k in range(u.size):
            u[k], w_u[k] = _merge_four(
                LINEAR, u[k], w_u[k], ud[k], w_ud[k], v[k], w_v[k], vd[k], w_vd[k], one, one, one,
                one,
            )  # fmt: skip
    else:
        for k in range(u.size):
            u[k], w_u[k] = _merge_four(
                LOG, u[k], w_u[k], ud[k], w_ud[k], v[k], w_v[k], vd[k], w_vd[k], one, one, alpha,
                one,
            )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def _merge_columns(
    form, uc, w_uc, ud, w_ud, vc, w_vc, vd, w_vd, two_rows, share, shares, alpha, paired, u, w_u, v,
    w_v,
):  # fmt: skip
    """Merge the paired columns c, d of a new row, made of row u alone or of rows u and v.

    What stands in columns c is listed in u and v first: lists merge by vectors. The result is in u.
    """
    _gather(uc, paired, u)
    if form >= LINEAR:
        _gather(w_uc, paired, w_u)
    one = u.dtype.type(1.0)
    if not two_rows and form == MEAN:
        for k in range(u.size):
            u[k], _ = merge_entry(MEAN, u[k], one, ud[k], one, shares[k], one, one)
        return
    if not two_rows:
        merge_rows(form, u, w_u, ud, w_ud, one, alpha)
        return
    _gather(vc, paired, v)
    if form >= LINEAR:
        _gather(w_vc, paired, w_v)
    _merge_four_lists(form, u, w_u, ud, w_ud, v, w_v, vd, w_vd, share, shares, alpha)


@njit(cache=True, nogil=True, error_model="numpy")
def _put_columns(form, psi, weight, paired, found, w_found, r, dead):
    """Put the merged columns in their place, kill the diagonal, and return the nearest cluster."""
    for k in range(paired.size):
        psi[paired[k]] = found[k]
    if form >= LINEAR:
        for k in range(paired.size):
            weight[paired[k]] = w_found[k]
        weight[r] = 1.0  # it was made of the diagonal, which may be anything
    psi[r] = dead
    return argmin(psi, 0, psi.size)


@njit(cache=True, nogil=True, error_model="numpy")
def _gather(row, columns, out):
    for c in range(columns.size):
        out[c] = row[columns[c]]


@njit(cache=True, nogil=True, error_model="numpy")
def first_pass(
    form, matrix, alpha, centre, first, second, share, paired, psi, weight, nearest, distance,
    dead, start, stop,
):  # fmt: skip
    """Make rows ``start`` to ``stop`` of the first compact matrix from the points' dissimilarities.

    Args:
        form: How linkages merge (`_rows`).
        matrix: (n, n) dissimilarities.
        alpha: Of the weights.
        centre: Of the weights.
        first: (m,) first point of each new cluster.
        second: (m,) its second point, or -1.
        share: (m,) the second point's share of the cluster.
        paired: The new clusters that have two points.
        psi: (m, m) output.
        weight: (m, m) output, or anything 2-d.
        nearest: Output: each new cluster's nearest.
        distance: Output: the linkage to it.
        dead: Written to the diagonal.
        start: First new row.
        stop: One past the last.
    """
    kind = matrix.dtype
    weighted = form >= LINEAR
    partners = second[paired]
    m = first.size
    wide = m if weighted else 1
    few = paired.size if weighted else 1
    vc, w_vc = np.empty(m, kind), np.empty(wide, kind)
    ud, w_ud = np.empty(paired.size, kind), np.empty(few, kind)
    vd, w_vd = np.empty(paired.size, kind), np.empty(few, kind)
    found, w_found = np.empty(paired.size, kind), np.empty(few, kind)
    v_found, w_v_found = np.empty(paired.size, kind), np.empty(few, kind)
    shares = share[paired]
    for r in range(start, stop):
        uc = psi[r]
        w_uc = weight[r if weighted else 0]
        two_rows = second[r] >= 0
        _gather(matrix[first[r]], first, uc)
        _gather(matrix[first[r]], partners, ud)
        if weighted:
            weigh(form, uc, 0, w_uc, 0, uc.size, alpha, centre)
            weigh(form, ud, 0, w_ud, 0, ud.size, alpha, centre)
        if two_rows:
            _gather(matrix[second[r]], first, vc)
            _gather(matrix[second[r]], partners, vd)
            if weighted:
                weigh(form, vc, 0, w_vc, 0, vc.size, alpha, centre)
                weigh(form, vd, 0, w_vd, 0, vd.size, alpha, centre)
        _merge_columns(
            form, uc, w_uc, ud, w_ud, vc, w_vc, vd, w_vd, two_rows, share[r], shares, alpha, paired,
            found, w_found, v_found, w_v_found,
        )  # fmt: skip
        if two_rows:
            merge_rows(form, uc, w_uc, vc, w_vc, share[r], alpha)
        nearest[r] = _put_columns(form, uc, w_uc, paired, found, w_found, r, dead)
        distance[r] = uc[nearest[r]]


@njit(cache=True, nogil=True, error_model="numpy")
def next_pass(
    form, alpha, psi, weight, slot, seen, kept, gone, merge_share, first, second, share, paired,
    nearest, distance, dead, start, stop,
):  # fmt: skip
    """Bring rows up to date, merge pairs, compact; row r stays where ``first[r]`` was.

    Args as in `chase` (``psi`` to ``gone``, the merges a chain has noted) and `first_pass`.
    """
    kind = psi.dtype
    weighted = form >= LINEAR
    partners = second[paired]
    n = slot.size
    m = first.size
    few = paired.size if weighted else 1
    vc, w_vc = np.empty(m, kind), np.empty(m if weighted else 1, kind)
    ud, w_ud = np.empty(paired.size, kind), np.empty(few, kind)
    vd, w_vd = np.empty(paired.size, kind), np.empty(few, kind)
    found, w_found = np.empty(paired.size, kind), np.empty(few, kind)
    v_found, w_v_found = np.empty(paired.size, kind), np.empty(few, kind)
    shares = share[paired]
    for r in range(start, stop):
        u = first[r]
        v = second[r]
        row = psi[slot[u], :n]
        weights = weight[slot[u] if weighted else 0, : n if weighted else 1]
        refresh_row(form, row, weights, seen[u], kept.size, kept, gone, merge_share, alpha, dead)
        uc = row[:m]
        w_uc = weights[:m]
        _gather(row, partners, ud)
        _gather(row, first, uc)  # in place: first[c] >= c
        if weighted:
            _gather(weights, partners, w_ud)
            _gather(weights, first, w_uc)
        if v >= 0:
            row = psi[slot[v], :n]
            weights = weight[slot[v] if weighted else 0, : n if weighted else 1]
            refresh_row(
                form, row, weights, seen[v], kept.size, kept, gone, merge_share, alpha, dead
            )
            _gather(row, first, vc)
            _gather(row, partners, vd)
            if weighted:
                _gather(weights, first, w_vc)
                _gather(weights, partners, w_vd)
        _merge_columns(
            form, uc, w_uc, ud, w_ud, vc, w_vc, vd, w_vd, v >= 0, share[r], shares, alpha, paired,
            found, w_found, v_found, w_v_found,
        )  # fmt: skip
        if v >= 0:
            merge_rows(form, uc, w_uc, vc, w_vc, share[r], alpha)
        nearest[r] = _put_columns(form, uc, w_uc, paired, found, w_found, r, dead)
        distance[r] = uc[nearest[r]]
