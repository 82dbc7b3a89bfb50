"""The local server of the review page: loopback only, a token in every address, nothing else.

A page of another site must not read or answer: requests need the token, which is compared in
constant time, and a ``Host`` that is this machine's loopback address (against DNS rebinding). The
page loads nothing from elsewhere; the content security policy forbids it.
"""

from __future__ import annotations

import hmac
import json
import secrets
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from supclust.data.errors import DataError
from supclust.review.session import Review

_FILES = {
    "": ("page.html", "text/html; charset=utf-8"),
    "page.css": ("page.css", "text/css; charset=utf-8"),
    "page.js": ("page.js", "text/javascript; charset=utf-8"),
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_LARGEST = 10_000  # bytes of a request


class ReviewServer(ThreadingHTTPServer):
    """A server of one review.

    Args:
        review: questions and answers.
        port: 0: any that is free.
    """

    daemon_threads = True

    def __init__(self, review: Review, port: int = 0) -> None:
        self.review = review
        self.token = secrets.token_urlsafe(24)
        super().__init__(("127.0.0.1", port), _Handler)
        self.hosts = {f"{name}:{self.server_port}" for name in ("127.0.0.1", "localhost")}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report what failed, unless the browser has closed the connection."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"


class _Handler(BaseHTTPRequestHandler):
    server: ReviewServer
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        """The page, its files, and the current question."""
        name = self._allowed()
        if name is None:
            return
        if name == "state":
            try:
                self._send_json(self.server.review.state())
            except DataError as problem:  # another process has damaged or removed the store
                self._refuse(HTTPStatus.CONFLICT, str(problem))
        elif name in _FILES:
            file, kind = _FILES[name]
            content = files("supclust.review").joinpath("assets", file).read_bytes()
            self._send(HTTPStatus.OK, content, kind)
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such page")

    def do_POST(self) -> None:
        """An answer, or undo."""
        name = self._allowed()
        if name is None:
            return
        if self.headers.get("Content-Type", "") != "application/json":
            return self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "JSON is needed")
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > _LARGEST:
            return self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the request is too long")
        try:
            sent = json.loads(self.rfile.read(int(length)))
            if name == "undo":
                return self._send_json(self.server.review.undo())
            if name == "answer":
                state = self.server.review.answer(str(sent["question"]), str(sent["answer"]))
                return self._send_json(state)
        except (DataError, OSError) as problem:  # another process writes the store, a full disk
            return self._refuse(HTTPStatus.CONFLICT, str(problem))
        except (ValueError, KeyError, TypeError) as problem:
            return self._refuse(HTTPStatus.BAD_REQUEST, str(problem))
        return self._refuse(HTTPStatus.NOT_FOUND, "there is no such page")

    def _allowed(self) -> str | None:
        """What is asked for, if the host and the token are right."""
        if self.headers.get("Host", "") not in self.server.hosts:
            self._refuse(HTTPStatus.FORBIDDEN, "the host is not this machine")
            return None
        token, _, name = self.path.removeprefix("/").partition("/")
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            self._refuse(HTTPStatus.FORBIDDEN, "the address has no valid token")
            return None
        return name.partition("?")[0]

    def _send_json(self, value: dict[str, Any]) -> None:
        content = json.dumps(value, allow_nan=False).encode()
        self._send(HTTPStatus.OK, content, "application/json")

    def _refuse(self, status: HTTPStatus, problem: str) -> None:
        self.close_connection = True
        self._send(status, json.dumps({"error": problem}).encode(), "application/json")

    def _send(self, status: HTTPStatus, content: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def version_string(self) -> str:
        """Value of the Server header: names no software or version."""
        return "supclust"

    def log_message(self, format: str, *args: Any) -> None:
        """Write no log: addresses hold the token."""
