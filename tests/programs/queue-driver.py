#!/usr/bin/env python3
"""Speaks the frames of runner/store/messages.h with an assay-store that serves a queue: as its worker, and as evaluations of
that worker which were taken over.

    queue-driver.py PROGRAM DATABASE KEY

There is one job to take. Each evaluation says one thing that it may not, and a line is printed of what came of it; at the end, of
how many of three that say half a word and stay the worker waits for.
"""

import os
import select
import socket
import struct
import sys

OPEN, BEGIN, NUMBER, COMMIT, LIST, DONE, FAILED = 1, 3, 6, 8, 9, 17, 18
HAS, CLAIM, CLAIMED, WAKE, RENEW, APPENDER, CANCEL, ANSWER, MATCH_SHOW = 20, 24, 25, 27, 28, 29, 36, 38, 73


def text(value):
    return struct.pack("<I", len(value.encode())) + value.encode()


def frame(kind, payload=b"", fds=0):
    return struct.pack("<IHH", len(payload), kind, fds) + payload


def receive(sock):
    """A frame's type and payload, or None at the end. That something was queued is not asked for here."""
    header = sock.recv(8, socket.MSG_WAITALL)
    if len(header) < 8:
        return None, b""
    length, kind, _ = struct.unpack("<IHH", header)
    payload = sock.recv(length, socket.MSG_WAITALL) if length else b""
    return receive(sock) if kind == WAKE else (kind, payload)


def take_text(payload):
    (length,) = struct.unpack_from("<I", payload)
    return payload[4 : 4 + length].decode(), payload[4 + length :]


def start(program, database, key):
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        os.dup2(theirs.fileno(), 3)
        os.set_inheritable(3, True)
        os.execv(program, ["assay-store", "queue"])
    theirs.close()
    ours.sendall(frame(OPEN, b"".join(map(text, [database, key, "", "", "", "", "", ""]))))
    receive(ours)
    return ours


class Worker:
    def __init__(self, sock):
        self.sock = sock
        sock.sendall(frame(CLAIM, text("driver") + struct.pack("<I", 60000)))
        kind, payload = receive(sock)
        assert kind == CLAIMED, kind
        fields = []
        for _ in range(10):
            value, payload = take_text(payload)
            fields.append(value)
        self.job, self.task, self.archive = fields[0], fields[2], fields[4]
        (self.lease,) = struct.unpack_from("<Q", payload)

    def evaluation(self):
        ours, theirs = socket.socketpair()
        payload = text(self.job) + struct.pack("<QI", self.lease, 1) + text("RESULT")
        socket.send_fds(self.sock, [frame(APPENDER, payload, 1)], [theirs.fileno()])
        theirs.close()
        assert receive(self.sock)[0] == DONE
        return ours

    def renew(self):
        self.sock.sendall(frame(RENEW, struct.pack("<II", 60000, 1) + text(self.job) + struct.pack("<Q", self.lease)))
        kind, payload = receive(self.sock)
        assert kind == ANSWER, kind
        return payload == b"\1"


def outcome(sock):
    """The types of all answers; of a failure what it says."""
    said = []
    while (answer := receive(sock))[0]:
        said.append(answer[1][6:].decode(errors="replace").split(":")[0] if answer[0] == FAILED else str(answer[0]))
    return " ".join(said)


def main():
    worker = Worker(start(*sys.argv[1:]))
    begin = frame(BEGIN, text(worker.task) + text(worker.archive))
    attacks = {
        "reads": frame(LIST),
        "takes a job": frame(CLAIM, text("driver") + struct.pack("<I", 60000)),
        "asks for a file": frame(HAS, text(worker.archive)),
        "cancels its job": frame(CANCEL, text(worker.job)),
        "reads a match": frame(MATCH_SHOW),
        "commits at once": frame(COMMIT),
        "begins for another task": frame(BEGIN, text("another") + text(worker.archive)),
        "begins for another archive": frame(BEGIN, text(worker.task) + text("0" * 64)),
        "begins twice": begin + begin,
        "commits nothing": begin + frame(COMMIT),
        "numbers its result": begin + frame(NUMBER, struct.pack("<BBQ", 0, 0, 1)),
        "says that a lot follows": struct.pack("<IHH", 0xFFFFFFFF, BEGIN, 0),
        "says half a word": begin[:5],
    }
    for name, bytes_ in attacks.items():
        sock = worker.evaluation()
        sock.sendall(bytes_)
        if name == "says half a word":
            sock.shutdown(socket.SHUT_WR)
        print(f"{name}: {outcome(sock)}, {'renewed' if worker.renew() else 'lost'}")
    with_file = worker.evaluation()
    socket.send_fds(with_file, [frame(BEGIN, b"", 1)], [0])
    print(f"sends a file along: {outcome(with_file)}, {'renewed' if worker.renew() else 'lost'}")
    stay = [worker.evaluation() for _ in range(3)]
    for sock in stay:
        sock.sendall(begin[:5])
    renewed = worker.renew()
    waited = len(select.select(stay, [], [], 0)[0])
    print(f"stay: waited for {'one at most' if waited <= 1 else waited}, {'renewed' if renewed else 'lost'}")


main()
