"""Bit-parallel edit distance and Jaro-Winkler similarity of strings of at most 64 characters.

The first string is a *pattern*: ``masks[c]`` has bit i set where its character i is c. A pattern is
set once and compared with many others. Machine words are int64; additions wrap around.
"""

from __future__ import annotations

import numpy as np

from supclust.kernels import kernel

LONGEST = 64
_BOOST_FROM, _PREFIX, _PREFIX_WEIGHT = 0.7, 4, 0.1  # of Winkler


@kernel
def set_pattern(chars, start, stop, masks):
    """Set the bits of a pattern; `clear_pattern` undoes it."""
    bit = np.int64(1)
    for k in range(start, stop):
        masks[chars[k]] |= bit
        bit <<= 1


@kernel
def clear_pattern(chars, start, stop, masks):
    """Clear the bits that `set_pattern` set."""
    for k in range(start, stop):
        masks[chars[k]] = 0


@kernel
def edit_distance(masks, n, chars, start, stop):
    """Levenshtein distance of the pattern of n characters and another string.

    A column of the dynamic programme is two words of bits: where its values step up (``up``) and
    down (``down``) from one row to the next (Myers 1999, Hyyro 2003).

    Complexity: O(length of the other string).
    """
    if n == 0:
        return stop - start
    last = np.int64(1) << (n - 1)
    up, down = np.int64(-1), np.int64(0)
    distance = n
    for k in range(start, stop):
        match = masks[chars[k]]
        diagonal = (((match & up) + up) ^ up) | match | down
        right = down | ~(diagonal | up)
        left = diagonal & up
        if right & last:
            distance += 1
        elif left & last:
            distance -= 1
        right = (right << 1) | np.int64(1)
        left <<= 1
        up = left | ~(diagonal | right)
        down = right & diagonal
    return distance


@kernel
def common_prefix(chars, a, a_stop, b, b_stop):
    """Number of leading characters that two strings share."""
    shared = 0
    while a + shared < a_stop and b + shared < b_stop and chars[a + shared] == chars[b + shared]:
        shared += 1
    return shared


@kernel(error_model="numpy")
def jaro_winkler(masks, n, chars, start, stop, prefix):
    """Jaro-Winkler similarity of the pattern of n characters and another string.

    Args:
        masks: of the pattern.
        n: its length.
        chars: of all strings.
        start: first character of the other.
        stop: last + 1.
        prefix: number of leading characters that both share.

    Complexity: O(length of the other string).
    """
    m = stop - start
    if n == 0 or m == 0:
        return 1.0 if n == m else 0.0
    window = max(max(n, m) // 2 - 1, 0)
    taken = np.int64(0)  # characters of the pattern that are matched
    matched = np.int64(0)  # characters of the other that are
    count = 0
    near = (np.int64(1) << window) - np.int64(1)  # characters of the pattern within the window
    bit = np.int64(1)
    for k in range(m):
        near = (near << 1) | np.int64(k <= window)
        free = masks[chars[start + k]] & near & ~taken
        first = free & -free
        taken |= first
        hit = np.int64(free != 0)
        matched |= bit & -hit
        count += hit
        bit <<= 1
    if count == 0:
        return 0.0
    moved = 0
    for k in range(start, stop):
        if matched & 1:
            first = taken & -taken
            moved += masks[chars[k]] & first == 0
            taken ^= first
        matched >>= 1
        if taken == 0:
            break
    jaro = (count / n + count / m + (count - moved // 2) / count) / 3
    if jaro > _BOOST_FROM:
        jaro += _PREFIX_WEIGHT * min(prefix, _PREFIX) * (1 - jaro)
    return jaro


@kernel
def is_substring(chars, a, a_stop, b, b_stop):
    """Whether the shorter of two strings occurs in the longer one."""
    if a_stop - a > b_stop - b:
        a, a_stop, b, b_stop = b, b_stop, a, a_stop
    n = a_stop - a
    if n == 0:
        return False
    for k in range(b, b_stop - n + 1):
        if chars[k] == chars[a] and common_prefix(chars, a, a_stop, k, b_stop) == n:
            return True
    return False
