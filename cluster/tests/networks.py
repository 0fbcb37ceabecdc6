"""Simulated machines with a network that can be disturbed: namespaces on this machine."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import time
from pathlib import Path

from .machines import STORE

HEAD, PORT = "10.77.0.1", 6399
RAY = str(Path(sys.executable).parent / "ray")


def can_be_made() -> bool:
    """Whether namespaces and disturbed networks can be created here."""
    tools = all(shutil.which(it) for it in ("ip", "tc"))
    return tools and os.geteuid() == 0 and shutil.which(RAY) is not None


def has_netem() -> bool:
    """Whether this system can delay and drop packets of a network."""
    tried = ["tc", "qdisc", "replace", "dev", "lo", "root", "netem", "delay", "0ms"]
    if subprocess.run(tried, check=False, capture_output=True).returncode != 0:
        return False
    run("tc qdisc del dev lo root")
    return True


def run(line: str) -> None:
    """Runs a command that changes the network."""
    subprocess.run(line.split(), check=True, capture_output=True)


class Networks:
    """The head of a cluster of Ray, and machines of one processor in namespaces."""

    def __init__(self, number: int) -> None:
        # As in `docs/how-to/cluster.md`, each machine has the token, here in the environment.
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
        self.number = number
        self.address = f"{HEAD}:{PORT}"
        self._machines: dict[int, subprocess.Popen[bytes]] = {}
        run("ip link add spillsw type bridge")
        try:
            run(f"ip addr add {HEAD}/24 dev spillsw")
            run("ip link set spillsw up")
            for it in range(number):
                self._link(it)
            self._start_head()
            for it in range(number):
                self.join(it)
        except BaseException:
            self.close()
            raise

    def _link(self, it: int) -> None:
        run(f"ip netns add spill{it}")
        run(f"ip link add spillv{it} type veth peer name eth0 netns spill{it}")
        run(f"ip link set spillv{it} master spillsw up")
        run(f"ip -n spill{it} addr add 10.77.0.1{it}/24 dev eth0")
        run(f"ip -n spill{it} link set eth0 up")
        run(f"ip -n spill{it} link set lo up")

    def _start_head(self) -> None:
        run(
            f"{RAY} start --head --node-ip-address={HEAD} --port={PORT} --num-cpus=0 "
            f"--object-store-memory={STORE} --include-dashboard=false --disable-usage-stats"
        )

    def join(self, it: int) -> None:
        """Lets a machine join, or join again."""
        self.leave(it)
        line = (
            f"ip netns exec spill{it} {RAY} start --address={self.address} --block --num-cpus=1 "
            f"--node-ip-address=10.77.0.1{it} --object-store-memory={STORE} --disable-usage-stats"
        )
        log = subprocess.DEVNULL
        self._machines[it] = subprocess.Popen(
            line.split(), stdout=log, stderr=log, start_new_session=True
        )

    def leave(self, it: int) -> None:
        """Kills all processes of a machine."""
        pids = subprocess.run(
            ["ip", "netns", "pids", f"spill{it}"], stdout=-1, text=True, check=True
        ).stdout.split()
        if pids:
            subprocess.run(["kill", "-9", *pids], check=False, capture_output=True)
        if it in self._machines:
            self._machines.pop(it).wait()

    def is_there(self, it: int) -> bool:
        """Whether Ray runs on a machine. It ends if the other machines have given it up."""
        return self._machines[it].poll() is None

    def make(self, it: int, how: str) -> None:
        """Sets the disturbance of all packets to and from a machine, in the syntax of `tc`."""
        run(f"tc qdisc replace dev spillv{it} root {how}")
        run(f"ip netns exec spill{it} tc qdisc replace dev eth0 root {how}")

    def part(self, it: int) -> None:
        """Disconnects a machine."""
        run(f"ip link set spillv{it} down")

    def mend(self, it: int) -> None:
        """Removes the disturbance of a machine."""
        self.make(it, "pfifo limit 1000")
        run(f"ip link set spillv{it} up")

    def close(self) -> None:
        """Removes all namespaces and processes."""
        for it in range(self.number):
            if Path(f"/run/netns/spill{it}").exists():
                self.leave(it)
        subprocess.run([RAY, "stop", "--force"], check=False, capture_output=True)
        time.sleep(1)
        for it in range(self.number):
            subprocess.run(["ip", "netns", "del", f"spill{it}"], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", "spillsw"], check=False, capture_output=True)
