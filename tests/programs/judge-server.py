#!/usr/bin/env python3
"""A chat API of tests: plays servers and models that are good, broken, slow or hostile.

    judge-server.py DIR [CERTIFICATE KEY]

Listens on a port of 127.0.0.1 that the kernel chooses and writes it to DIR/port. The n-th request
is kept as DIR/request-n.json; what it is answered, the n-th line of DIR/script says (the last line
for all that follow): a row of `KINDS`, or an HTTP status. The rubric is "Code quality", "Docs".
"""
import json
import os
import pathlib
import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

here = pathlib.Path(sys.argv[1])
seen = 0


def verdict(first=90, second="70.50"):
    return ('{"criteria": {"Code quality": {"reasoning": "clear, %s", "score": %s},'
            ' "Docs": {"reasoning": "short, %s", "score": %s}}, "summary": "Scored %s."}'
            % (first, first, second, second, first))


def envelope(content, finish="stop", **more):
    message = {"role": "assistant", "content": content, **more}
    return {"id": "x", "object": "chat.completion", "created": 1700000000, "model": "model-1.2",
            "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}}


def answer(h, body, kind="application/json", status=200, headers=()):
    if not isinstance(body, bytes):
        body = (body if isinstance(body, str) else json.dumps(body)).encode()
    h.send_response(status)
    for name, value in headers:
        h.send_header(name, value)
    h.send_header("Content-Type", kind)
    h.send_header("Content-Length", str(len(body)))
    h.end_headers()
    h.wfile.write(body)


def content(text, **more):
    return lambda h: answer(h, envelope(text, **more))


def good(h, *scores):
    answer(h, envelope(verdict(*scores)))


def error(h, status, text="a test's error", headers=()):
    answer(h, {"error": {"message": text, "type": "x"}}, status=status, headers=headers)


def truncated(h):
    body = json.dumps(envelope(verdict()))
    h.send_response(200)
    h.send_header("Content-Type", "application/json")
    h.send_header("Content-Length", str(len(body) + 1))
    h.end_headers()
    h.wfile.write(body.encode())
    h.close_connection = True


def hang_up(h):
    h.close_connection = True


def silent(h):
    """Until the other side gives up."""
    h.connection.recv(1)
    h.close_connection = True


def headers_for_ever(h):
    h.send_response(200)
    h.flush_headers()
    try:
        while True:
            h.wfile.write(b"X-Filler: " + b"x" * 1000 + b"\r\n")
    except OSError:
        h.close_connection = True


def no_schema(h):
    if "response_format" in h.asked:
        error(h, 400, "response_format is not supported")
    else:
        good(h)


def changed(old, new):
    return content(verdict().replace(old, new, 1))


def with_choices(change):
    def play(h):
        whole = envelope(verdict())
        change(whole)
        answer(h, whole)
    return play


KINDS = {
    # what to accept
    "good": good,
    "spaces": content("\n " + verdict() + " \n"),
    "bare": lambda h: answer(h, {"choices": [
        {"message": {"content": verdict()}, "finish_reason": "stop"}]}),
    "odd-usage": with_choices(lambda e: e.update(usage={"prompt_tokens": -1, "completion_tokens": "5"})),
    "unicode": changed("clear", "r\\u00e9sum\\u00e9 \\ud83d\\ude00 \u202e\u00e4"),
    "no-schema": no_schema,
    # broken servers
    "truncated": truncated,
    "hang-up": hang_up,
    "silent": silent,
    "headers": headers_for_ever,
    "not-json": lambda h: answer(h, "<html>Good day</html>"),
    "html": lambda h: answer(h, envelope(verdict()), kind="text/html"),
    "huge": lambda h: answer(h, envelope("x" * (10 << 20))),
    "deep": lambda h: answer(h, "[" * 1000000),
    "no-choices": with_choices(lambda e: e.update(choices=[])),
    "two-choices": with_choices(lambda e: e.update(choices=e["choices"] * 2)),
    "null": content(None),
    "length": content(verdict(), finish="length"),
    "refusal": content(None, refusal="I would rather not"),
    "redirect": lambda h: answer(h, {}, status=307, headers=[("Location", "/v1/elsewhere")]),
    "rate": lambda h: error(h, 429, "too fast", [("Retry-After", "1")]),
    "key": lambda h: error(h, 401, "no such key: " + h.headers["Authorization"]),
    # hostile models, or ones that were talked into something
    "prose": content("Sure! " + verdict()),
    "afterword": content(verdict() + " I hope this helps."),
    "fence": content("```json\n" + verdict() + "\n```"),
    "list": content("[" + verdict() + "]"),
    "empty": content(""),
    "unknown": changed('"Docs"', '"Docs": {"reasoning": "", "score": 1}, "Bonus"'),
    "missing": changed('"Docs"', '"docs"'),
    "repeated": changed('"Docs"', '"Code quality"'),
    "more": changed('"summary"', '"total": 100, "summary"'),
    "no-summary": changed(', "summary": "Scored 90."', ""),
    "no-reasoning": changed('"reasoning": "clear, 90", ', ""),
    "above": content(verdict("100.000000000000000000000000001")),
    "below": content(verdict("-1")),
    "nan": content(verdict("NaN")),
    "text": changed('"score": 90', '"score": "90"'),
    "digits": content(verdict("9" * 31)),
    "deep-verdict": content('{"criteria": ' + "[" * 100000),
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        global seen
        seen += 1
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.asked = json.loads(body)
        kept = {"path": self.path, "headers": dict(self.headers), "raw": body.decode(), "body": self.asked}
        (here / ("request-%d.json" % seen)).write_text(json.dumps(kept))
        script = (here / "script").read_text().splitlines()
        kind, *arguments = script[min(seen, len(script)) - 1].split()
        if kind.isdigit():
            error(self, int(kind), *arguments)
        else:
            KINDS[kind](self, *arguments)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A client that hangs up is part of the play."""


server = Server(("127.0.0.1", 0), Handler)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
(here / "port.new").write_text(str(server.server_address[1]))
os.rename(here / "port.new", here / "port")
server.serve_forever()
