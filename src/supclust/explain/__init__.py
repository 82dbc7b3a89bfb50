"""Why records are together or apart, and how sure that is: waterfalls, confidence, words."""
