"""Real clusters on this machine: two nodes of Ray, one of SLURM (``make test-cluster``)."""
