"""Compiled work on keys: products, agreement of pairs, and the join that lists candidate pairs.

Keys of n records are in CSR form: ``items[starts[i]:starts[i + 1]]`` are the keys of record i,
distinct and sorted. Two records agree if they share a key.
"""

from __future__ import annotations

import numpy as np

from supclust.kernels import kernel


@kernel
def mix(value):
    """Finalizer of splitmix64: an int64 whose bits all depend on all bits of ``value``."""
    x = np.uint64(value) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64(x ^ (x >> np.uint64(31)))


@kernel
def hash_texts(points, starts, out):
    """63-bit hashes of texts given as code points: the same in every table and on every machine."""
    for i in range(starts.shape[0] - 1):
        h = np.int64(-3750763034362895579)  # FNV-1a
        for k in range(starts[i], starts[i + 1]):
            h = (h ^ points[k]) * np.int64(1099511628211)
        out[i] = mix(h) & np.int64(0x7FFFFFFFFFFFFFFF)


@kernel
def take(starts, items, rows, out_starts, out_items):
    """Keys of some records; ``out_items`` is long enough."""
    at = 0
    for k in range(rows.shape[0]):
        out_starts[k] = at
        for p in range(starts[rows[k]], starts[rows[k] + 1]):
            out_items[at] = items[p]
            at += 1
    out_starts[rows.shape[0]] = at


@kernel
def product(starts, items, other_starts, other_items, out_starts, out_items):
    """Keys of a conjunction: every combination of a key of each side, hashed to 64 bits."""
    at = 0
    n = starts.shape[0] - 1
    for i in range(n):
        out_starts[i] = at
        for p in range(starts[i], starts[i + 1]):
            for q in range(other_starts[i], other_starts[i + 1]):
                out_items[at] = mix(mix(items[p]) ^ other_items[q])
                at += 1
    out_starts[n] = at


@kernel
def sort_keys(starts, items):
    """Sort the keys of every record, by insertion: they are few."""
    for i in range(starts.shape[0] - 1):
        for p in range(starts[i] + 1, starts[i + 1]):
            key, q = items[p], p
            while q > starts[i] and items[q - 1] > key:
                items[q] = items[q - 1]
                q -= 1
            items[q] = key


@kernel
def shares_key(starts, items, i, j):
    """Smallest key position of record i that record j has too; -1: none."""
    p, q = starts[i], starts[j]
    p_end, q_end = starts[i + 1], starts[j + 1]
    while p < p_end and q < q_end:
        if items[p] == items[q]:
            return p
        if items[p] < items[q]:
            p += 1
        else:
            q += 1
    return -1


@kernel
def agreement(starts, items, left, right, out):
    """Whether each pair of records shares a key."""
    for k in range(left.shape[0]):
        out[k] = shares_key(starts, items, left[k], right[k]) >= 0


@kernel
def list_pairs(rule, starts, items, members, groups, keys, resume, left, right):
    """List the pairs of records that share a key of one rule, each pair of records once.

    A pair belongs to the first rule, and to the smallest key under that rule, that its two records
    share; every other occurrence is skipped, so nothing has to be remembered.

    Args:
        rule: position of the rule whose groups these are.
        starts: (rules, n + 1) of the keys of all rules.
        items: keys of all rules, one array; ``starts`` point into it.
        members: records of all groups, ascending within a group.
        groups: (g + 1,) starts of the groups in ``members``.
        keys: (g,) key of every group.
        resume: (3,) group and the two positions to go on from; updated.
        left: buffer for the smaller record of a pair.
        right: buffer for the larger one.

    Returns:
        The number of pairs written; the work is done when it is less than the buffer.
    """
    count = 0
    group, a, b = resume[0], resume[1], resume[2]
    while group < keys.shape[0]:
        end = groups[group + 1]
        while a < end - 1:
            while b < end:
                if count == left.shape[0]:
                    resume[0], resume[1], resume[2] = group, a, b
                    return count
                i, j = members[a], members[b]
                b += 1
                if items[shares_key(starts[rule], items, i, j)] != keys[group]:
                    continue
                known = False
                for earlier in range(rule):
                    if shares_key(starts[earlier], items, i, j) >= 0:
                        known = True
                        break
                if not known:
                    left[count], right[count] = i, j
                    count += 1
            a += 1
            b = a + 1
        group += 1
        a = end
        b = a + 1
    resume[0], resume[1], resume[2] = group, a, b
    return count


@kernel
def minhash_keys(points, starts, bands, rows, out):
    """MinHash signatures, in bands, of the letter triples of texts: (texts, bands) keys.

    A text is padded by a space on each side. Two texts whose sets of triples have Jaccard
    similarity s share the key of a band with probability s ** rows.

    Args:
        points: code points of all texts, below 2^21.
        starts: (texts + 1,).
        bands: keys per text.
        rows: of a band.
        out: filled.
    """
    for i in range(starts.shape[0] - 1):
        for band in range(bands):
            key = np.int64(band)
            for row in range(rows):
                least = np.int64(0x7FFFFFFFFFFFFFFF)
                salt = mix(np.int64(band * rows + row))
                window = np.int64(32)
                for p in range(starts[i], starts[i + 1] + 1):
                    point = points[p] if p < starts[i + 1] else np.int64(32)
                    window = ((window << 21) | point) & np.int64(0x7FFFFFFFFFFFFFFF)
                    if p > starts[i]:
                        least = min(least, mix(window ^ salt))
                key = mix(key ^ least)
            out[i, band] = key


@kernel
def rarest_words(starts, words, frequency, keys, most, out_starts, out):
    """Up to ``out.shape[1]`` words of an entry, the rarest of those in at most ``most`` records.

    Of words that are equally rare, those with the smaller key come first.
    """
    for i in range(starts.shape[0] - 1):
        count = 0
        for p in range(starts[i], starts[i + 1]):
            word = words[p]
            if frequency[word] > most:
                continue
            at = count
            repeated = False
            for k in range(count):
                if out[i, k] == word:
                    repeated = True
            if repeated:
                continue
            while at > 0:
                other = out[i, at - 1]
                if frequency[other] < frequency[word]:
                    break
                if frequency[other] == frequency[word] and keys[other] < keys[word]:
                    break
                if at < out.shape[1]:
                    out[i, at] = out[i, at - 1]
                at -= 1
            if at < out.shape[1]:
                out[i, at] = word
                count = min(count + 1, out.shape[1])
        out_starts[i] = count


@kernel
def count_bits(packed):
    """Bits that are set in every row of bytes."""
    counts = np.zeros(packed.shape[0], np.int64)
    for i in range(packed.shape[0]):
        for k in range(packed.shape[1]):
            byte = np.int64(packed[i, k])
            byte = byte - ((byte >> 1) & 0x55)
            byte = (byte & 0x33) + ((byte >> 2) & 0x33)
            counts[i] += (byte + (byte >> 4)) & 0x0F
    return counts


@kernel
def count_shared(items):
    """Number of pairs of equal keys, by counting in a hash table with linear probing."""
    size = 4
    while size < 2 * items.shape[0]:
        size *= 2
    keys, counts = np.empty(size, np.int64), np.zeros(size, np.int64)
    pairs = 0
    for p in range(items.shape[0]):
        at = mix(items[p]) & (size - 1)
        while counts[at] and keys[at] != items[p]:
            at = (at + 1) & (size - 1)
        keys[at] = items[p]
        pairs += counts[at]
        counts[at] += 1
    return pairs


@kernel
def weighted_sums(rows, weight, bias, out):
    """Weighted sums of rows, plus the bias: one after the other, so that none depends on others."""
    for i in range(rows.shape[0]):
        total = bias
        for k in range(weight.shape[0]):
            total += rows[i, k] * weight[k]
        out[i] = total
