"""Trees of more points than fit the cache (`dispatch.SMALL`)."""
