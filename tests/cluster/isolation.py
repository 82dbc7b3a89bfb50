"""A network of its own: loopback and nothing else.

Ray and SLURM listen on all interfaces, whatever address they are given. In a network namespace
there is one interface, loopback; in a PID namespace everything that was started ends with us.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

_INSIDE = "SUPCLUST_TEST_CLUSTER_ISOLATED"


def enter(arguments: list[str]) -> None:
    """Start this program again in the namespaces; returns inside of them.

    Exits with 2 where namespaces are not allowed, for example in a container without privileges.
    """
    if os.environ.get(_INSIDE):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    unshare = ["unshare", *as_root, "--net", "--pid", "--uts", "--fork", "--kill-child"]
    unshare.append("--mount-proc")
    needed = [name for name in ("unshare", "ip") if shutil.which(name) is None]
    if needed or subprocess.run([*unshare, "true"], capture_output=True).returncode:
        print(
            "the cluster tests need a network namespace (unshare of util-linux and ip of iproute2, "
            f"as root or with user namespaces); received: {needed or 'not permitted'}",
            file=sys.stderr,
        )
        sys.exit(2)
    environment = {**os.environ, _INSIDE: "1"}
    sys.stdout.flush()
    sys.exit(
        subprocess.run(
            [*unshare, sys.executable, "-m", "cluster", *arguments], env=environment
        ).returncode
    )
