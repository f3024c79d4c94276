"""The fleet by hand. From the checkout, with the package `tocsin` installed:

    PYTHONPATH=tests python -m fleet --nodes 4 --gpus 8 --spec /tmp/loopback.yaml

Node n listens on 127.0.0.(10+n), each exporter on its usual port. All addresses are printed, then the fleet is served
until Ctrl-C. A line of standard input is a fault:

    xid 127.0.0.11 0 79              vanish 127.0.0.11 0         throttle 127.0.0.11 0 hw_thermal
    ecc 127.0.0.11 0 2               link_down 127.0.0.11 mlx5_0     exporter_down 127.0.0.11 dcgm
    errors chat 0.5

`--spec` writes a spec for the fleet: compile it, and start Prometheus on 127.0.0.1:9090 and Alertmanager on
127.0.0.1:9093 with the files that come out. Alertmanager will call 127.0.0.1:9099.
"""

from __future__ import annotations

import argparse
import sys
import threading
from pathlib import Path

from fleet.spec import spec
from tocsin.fleet.fleet import FAULTS, USUAL_PORTS, Fleet, usual

_TARGETS = {"prometheus": "3.5", "alertmanager": "0.33"}


def main() -> int:
    """Serve a fleet until Ctrl-C; 1 where an address is taken."""
    assert __doc__
    parser = argparse.ArgumentParser(
        prog="python -m fleet", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=4, choices=range(2, 201), metavar="N", help="hosts (default: 4)")
    parser.add_argument("--gpus", type=int, default=8, choices=range(1, 73), metavar="N", help="of each (default: 8)")
    parser.add_argument("--spec", type=Path, metavar="FILE", help="write a spec for this fleet")
    options = parser.parse_args()
    try:
        with Fleet(usual(options.nodes, options.gpus), USUAL_PORTS) as fleet:
            if options.spec:
                options.spec.write_text(spec(fleet, _TARGETS, "127.0.0.1:9093", "127.0.0.1:9099"), encoding="utf-8")
            for exporter, _host, address in fleet.endpoints():
                print(f"{exporter:8} http://{address}/metrics")
            print("Ctrl-C ends it.", flush=True)
            for line in sys.stdin:
                happen(fleet, line)
            threading.Event().wait()
    except KeyboardInterrupt:
        return 0
    except OSError as error:
        print(error.strerror or error, file=sys.stderr)
        return 1
    return 0


def happen(fleet: Fleet, line: str) -> None:
    """Let the fault happen that a line tells; say so where it is none."""
    name, *words = line.split() or [""]
    if not name:
        return
    try:
        if name not in FAULTS:
            raise ValueError(f"a fault is one of {', '.join(FAULTS)}")
        getattr(fleet, name)(*map(_value, words))
    except (ValueError, TypeError, KeyError, IndexError) as error:
        print(f"{line.strip()}: {error}", file=sys.stderr)


def _value(word: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word


if __name__ == "__main__":
    sys.exit(main())
