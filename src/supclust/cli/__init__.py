"""The subcommands of ``supclust``, one module each."""
