"""The part of Kubernetes' API that Prometheus asks for pods: a list, and a watch that tells what comes after it."""

from __future__ import annotations

import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from types import TracebackType

Pod = dict[str, Any]


def pod(namespace: str, name: str, ip: str, node: str, labels: dict[str, str], **more: Any) -> Pod:
    """A running pod; `annotations`, `ports` of its one container, and `phase` where they are not the usual ones."""
    metadata = {"namespace": namespace, "name": name, "uid": f"{namespace}-{name}", "labels": labels}
    ports = [{"containerPort": port, "protocol": "TCP"} for port in more.get("ports", [])]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**metadata, "resourceVersion": "1", "annotations": more.get("annotations", {})},
        "spec": {"nodeName": node, "containers": [{"name": "main", "image": "main", "ports": ports}]},
        "status": {"phase": more.get("phase", "Running"), "podIP": ip, "podIPs": [{"ip": ip}]},
    }


class ApiServer:
    """Serves pods from the moment it is made until the end of its `with`. It knows selectors of the form `a=b,c=d`."""

    def __init__(self, pods: list[Pod]) -> None:
        self._pods = list(pods)
        self._watchers: list[tuple[str, str, queue.Queue[Pod | None]]] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.selectors: set[str] = set()
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self) -> ApiServer:
        """Nothing to do: it serves already."""
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Serve no longer, and end every watch."""
        with self._lock:
            for _, _, events in self._watchers:
                events.put(None)
        self._server.shutdown()
        self._server.server_close()

    def add(self, new: Pod) -> None:
        """A pod that starts while others watch."""
        new = {**new, "metadata": {**new["metadata"], "resourceVersion": "2"}}
        with self._lock:
            self._pods.append(new)
            for namespace, selector, events in self._watchers:
                if _fits(new, namespace, selector):
                    events.put(new)

    def listed(self, namespace: str, selector: str) -> list[Pod]:
        """The pods that an answer to this question holds."""
        with self._lock:
            self.selectors.add(selector)
            return [one for one in self._pods if _fits(one, namespace, selector)]

    def watch(self, namespace: str, selector: str) -> queue.Queue[Pod | None]:
        """The pods that will come; None is the end."""
        events: queue.Queue[Pod | None] = queue.Queue()
        with self._lock:
            self._watchers.append((namespace, selector, events))
        return events


def _fits(one: Pod, namespace: str, selector: str) -> bool:
    labels = one["metadata"]["labels"]
    wanted = [pair.split("=") for pair in selector.split(",") if pair]
    return namespace in ("", one["metadata"]["namespace"]) and all(labels.get(key) == value for key, value in wanted)


def _handler(server: ApiServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            asked = {key: values[0] for key, values in parse_qs(url.query).items()}
            parts = url.path.split("/")  # /api/v1/pods, or /api/v1/namespaces/NAME/pods
            if parts[:3] != ["", "api", "v1"] or parts[-1] != "pods" or "sendInitialEvents" in asked:
                self.send_error(404)
                return
            namespace, selector = parts[4] if len(parts) == 6 else "", asked.get("labelSelector", "")
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            if asked.get("watch") in ("1", "true"):
                events = server.watch(namespace, selector)
                while (new := events.get()) is not None:
                    self._say({"type": "ADDED", "object": new})
            else:
                items = server.listed(namespace, selector)
                self._say({"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "1"}, "items": items})

        def _say(self, said: dict[str, Any]) -> None:
            self.wfile.write(json.dumps(said).encode() + b"\n")
            self.wfile.flush()

        def log_message(self, *_: object) -> None:
            pass

    return Handler
