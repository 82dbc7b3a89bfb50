"""Compiled encoding of normal forms: characters, words and letter triples as small integers."""

from __future__ import annotations

import numpy as np

from supclust.data.records.compare.strings import LONGEST
from supclust.kernels import kernel

_BITS = 21  # a Unicode code point fits, so that three of them fit an int64 exactly
_SPACE = 32
_OFFSET, _PRIME = -3750763034362895579, 1099511628211  # FNV-1a, 64 bits
_FIRST_SLOTS = 1 << 12


@kernel
def _slot(keys, used, key):
    """Slot of a key in an open-addressing table: its own, or the free one where it belongs."""
    mask = keys.size - 1
    mixed = key * np.int64(-7046029254386353131)
    at = (mixed ^ (mixed >> 29)) & mask
    while used[at] >= 0 and keys[at] != key:
        at = (at + 1) & mask
    return at


@kernel
def _grown(keys, used):
    """The table with twice the slots."""
    more_keys = np.zeros(2 * keys.size, np.int64)
    more_used = np.full(2 * keys.size, -1, np.int32)
    for k in range(keys.size):
        if used[k] >= 0:
            at = _slot(more_keys, more_used, keys[k])
            more_keys[at], more_used[at] = keys[k], used[k]
    return more_keys, more_used


@kernel
def _folded(h):
    """32 bits of a hash, not negative."""
    return (h ^ (h >> 32)) & np.int64(0xFFFFFFFF)


@kernel
def text_hash(points, start, stop):
    """32-bit hash of some code points; the same on every machine and in every version."""
    h = np.int64(_OFFSET)
    for k in range(start, stop):
        h = (h ^ points[k]) * np.int64(_PRIME)
    return _folded(h)


@kernel
def _number(key, keys, used, count):
    """Number of a key, ``count`` if it is new; the table, which may have grown."""
    at = _slot(keys, used, key)
    if used[at] >= 0:
        return used[at], keys, used
    keys[at], used[at] = key, count
    if 2 * (count + 1) > keys.size:
        keys, used = _grown(keys, used)
    return np.int32(count), keys, used


@kernel
def _characters(points, starts):
    """Up to 64 characters of every form, numbered by first appearance."""
    e = starts.size - 1
    char_starts = np.zeros(e + 1, np.int64)
    for i in range(e):
        char_starts[i + 1] = char_starts[i] + min(starts[i + 1] - starts[i], LONGEST)
    chars = np.empty(char_starts[e], np.uint32)
    seen = np.full(points.max() + 1 if points.size else 1, -1, np.int32)
    alphabet = 0
    for i in range(e):
        for k in range(char_starts[i + 1] - char_starts[i]):
            point = points[starts[i] + k]
            if seen[point] < 0:
                seen[point] = alphabet
                alphabet += 1
            chars[char_starts[i] + k] = seen[point]
    return chars, char_starts, alphabet


@kernel
def _words(points, starts, columns, separators):
    """Words of every form: sets of numbers; hash and column of every number."""
    e = starts.size - 1
    most = e
    for i in range(e):
        for k in range(starts[i], starts[i + 1]):
            most += points[k] == separators[columns[i]]
    keys, used = np.zeros(_FIRST_SLOTS, np.int64), np.full(_FIRST_SLOTS, -1, np.int32)
    word_starts = np.zeros(e + 1, np.int64)
    words = np.empty(most, np.uint32)
    hashes, owners = np.empty(most, np.int64), np.empty(most, np.int64)
    last = np.full(most, -1, np.int64)  # the entry that a word was last seen in
    count = fill = 0
    for i in range(e):
        begin = starts[i]
        h = np.int64(_OFFSET)
        for k in range(starts[i], starts[i + 1] + 1):
            if k < starts[i + 1] and points[k] != separators[columns[i]]:
                h = (h ^ points[k]) * np.int64(_PRIME)
                continue
            if k > begin:
                key = (h ^ (columns[i] + 1)) * np.int64(_PRIME)
                number, keys, used = _number(key, keys, used, count)
                if number == count:
                    hashes[count], owners[count] = _folded(h), columns[i]
                    count += 1
                if last[number] != i:
                    last[number] = i
                    words[fill] = number
                    fill += 1
            begin = k + 1
            h = np.int64(_OFFSET)
        word_starts[i + 1] = fill
    return word_starts, words[:fill].copy(), hashes[:count].copy(), owners[:count].copy()


@kernel
def _triples(points, starts, columns, wanted):
    """Sets of three-letter windows of the forms, padded by a space."""
    e = starts.size - 1
    most = 0
    for i in range(e):
        if wanted[columns[i]]:
            most += starts[i + 1] - starts[i]
    keys, used = np.zeros(_FIRST_SLOTS, np.int64), np.full(_FIRST_SLOTS, -1, np.int32)
    triple_starts = np.zeros(e + 1, np.int64)
    triples = np.empty(most, np.uint32)
    last = np.full(_FIRST_SLOTS, -1, np.int64)
    count = fill = 0
    for i in range(e):
        if wanted[columns[i]]:
            first, stop = starts[i], starts[i + 1]
            window = np.int64(_SPACE)
            for k in range(first, stop + 1):
                point = points[k] if k < stop else np.int64(_SPACE)
                window = ((window << _BITS) | point) & ((np.int64(1) << 3 * _BITS) - 1)
                if k == first:
                    continue
                number, keys, used = _number(window, keys, used, count)
                if number == count:
                    count += 1
                    if count > last.size:
                        more = np.full(2 * last.size, -1, np.int64)
                        more[: last.size] = last
                        last = more
                if last[number] != i:
                    last[number] = i
                    triples[fill] = number
                    fill += 1
        triple_starts[i + 1] = fill
    return triple_starts, triples[:fill].copy(), count


@kernel
def encode_forms(points, starts, columns, separators, wanted):
    """Encode forms; see `supclust.data.records.encode.text.TextEntries`.

    Args:
        points: code points of all forms, one after the other, int64.
        starts: (e + 1,).
        columns: (e,) column of every form.
        separators: (c,) code point between the words of a column.
        wanted: (c,) whether a column needs triples.
    """
    chars, char_starts, alphabet = _characters(points, starts)
    word_starts, words, hashes, owners = _words(points, starts, columns, separators)
    triple_starts, triples, triple_count = _triples(points, starts, columns, wanted)
    entry_hashes = np.empty(starts.size - 1, np.int64)
    for i in range(starts.size - 1):
        entry_hashes[i] = text_hash(points, starts[i], starts[i + 1])
    return (
        *(chars, char_starts, alphabet, word_starts, words, hashes, owners),
        *(triple_starts, triples, triple_count, entry_hashes),
    )
