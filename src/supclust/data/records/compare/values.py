"""Compiled comparison of dates, numbers and places; see `supclust.data.records.compare.kernel`."""

from __future__ import annotations

import numpy as np

from supclust.kernels import kernel

DAYS, YEAR, MONTH, DAY, SWAPPED = range(5)
DIFFERENCE, RELATIVE, EQUAL = range(3)
DISTANCE = 0
DATE_FEATURES, NUMBER_FEATURES, PLACE_FEATURES = 5, 3, 1
FAR = 10.0  # spreads beyond which numbers count as equally different
LONG_AGO = np.log1p(36525.0)  # days, a century, beyond which dates count as equally different
ANTIPODES = np.log1p(20015.0)  # km
_RADIUS = 6371.0  # km


@kernel
def put(row, place, value):
    """Write a feature that is wanted."""
    if place >= 0:
        row[place] = value


@kernel
def write_missing(group, c, first, second, row):
    """Write the flags; whether a value is missing, and then all features are neutral."""
    put(row, group.flags[c, 0], np.float32(first or second))
    put(row, group.flags[c, 1], np.float32(first and second))
    if not (first or second):
        return False
    for f in range(group.at.shape[1]):
        put(row, group.at[c, f], group.neutral[c, f])
    return True


@kernel(error_model="numpy")
def compare_dates(records, group, c, left, right, out):
    """Compare dates; a month or day that one does not have is neutral."""
    at, neutral = group.at[c], group.neutral[c]
    for k in range(left.size):
        a, b = records.dates[left[k], c], records.dates[right[k], c]
        row = out[k]
        if write_missing(group, c, a[0] < 0, b[0] < 0, row):
            continue
        gap = abs(records.days[left[k], c] - records.days[right[k], c])
        put(row, at[DAYS], np.float32(min(np.log1p(gap) / LONG_AGO, 1.0)))
        put(row, at[YEAR], np.float32(a[0] == b[0]))
        months, days = a[1] > 0 and b[1] > 0, a[2] > 0 and b[2] > 0
        put(row, at[MONTH], np.float32(a[1] == b[1]) if months else neutral[MONTH])
        put(row, at[DAY], np.float32(a[2] == b[2]) if days else neutral[DAY])
        swapped = a[0] == b[0] and a[1] == b[2] and a[2] == b[1] and a[1] != a[2]
        put(row, at[SWAPPED], np.float32(swapped) if months and days else neutral[SWAPPED])


@kernel(error_model="numpy")
def compare_numbers(records, group, c, left, right, out, spread):
    """Compare numbers; differences are in units of ``spread``."""
    at = group.at[c]
    for k in range(left.size):
        a, b = records.numbers[left[k], c], records.numbers[right[k], c]
        row = out[k]
        if write_missing(group, c, np.isnan(a), np.isnan(b), row):
            continue
        gap = 0.0 if a == b else abs(a - b)
        put(row, at[DIFFERENCE], np.float32(min(gap / spread, FAR)))
        largest = max(abs(a), abs(b))
        put(row, at[RELATIVE], np.float32(min(gap / largest, 1.0) if gap > 0 else 0.0))
        put(row, at[EQUAL], np.float32(a == b))


@kernel(error_model="numpy")
def compare_places(records, group, c, left, right, out):
    """Great-circle distances, log(1 + km) in units of that of the antipodes."""
    at = group.at[c]
    for k in range(left.size):
        a, b = records.places[left[k], c], records.places[right[k], c]
        missing = np.isnan(a[0] + a[1]), np.isnan(b[0] + b[1])
        if write_missing(group, c, missing[0], missing[1], out[k]):
            continue
        north, east = np.radians(b[0] - a[0]), np.radians(b[1] - a[1])
        across = np.cos(np.radians(a[0])) * np.cos(np.radians(b[0])) * np.sin(east / 2) ** 2
        half = min(np.sin(north / 2) ** 2 + across, 1.0)
        km = 2 * _RADIUS * np.arcsin(np.sqrt(half))
        put(out[k], at[DISTANCE], np.float32(min(np.log1p(km) / ANTIPODES, 1.0)))
