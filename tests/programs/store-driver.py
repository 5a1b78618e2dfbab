#!/usr/bin/env python3
"""Speaks the frames of runner/store/messages.h with assay-store, as an assay that was taken over would.

    store-driver.py PROGRAM MODE DATABASE KEY FRAME...

MODE is read, match, append, append:ID to supersede that result, or append::ID:AGENT to end that match of theirs. FRAME is a type and its fields: text fields
as they are, u8:N, u32:N, u64:N. STORE_OPEN is sent before them. Prints the type of each answer, and what STORE_FAILED says.
"""

import os
import socket
import struct
import sys

READY, ATTEMPT, PIECE, ENTRY, DONE, FAILED, VALUES, ENTERED = 2, 4, 12, 10, 17, 18, 64, 71
NAMES = {READY: "ready", ATTEMPT: "attempt", PIECE: "piece", ENTRY: "entry", DONE: "done", VALUES: "values", ENTERED: "entered"}


def field(text):
    kind, _, number = text.partition(":")
    if kind in ("u8", "u32", "u64"):
        return int(number).to_bytes(int(kind[1:]) // 8, "little")
    return struct.pack("<I", len(text.encode())) + text.encode()


def frame(kind, fields):
    payload = b"".join(map(field, fields))
    return struct.pack("<IHH", len(payload), kind, 0) + payload


def answers(sock):
    stream = sock.makefile("rb")
    while header := stream.read(8):
        length, kind, _ = struct.unpack("<IHH", header)
        payload = stream.read(length)
        if kind == FAILED:
            print("failed:", payload[6:].decode())
        else:
            print(NAMES.get(kind, kind))


def main():
    program, mode, database, key, *frames = sys.argv[1:]
    mode, supersedes, match, agent = (mode.split(":") + ["", "", ""])[:4]
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        ours.close()
        if theirs.fileno() != 3:
            os.dup2(theirs.fileno(), 3)
        os.set_inheritable(3, True)
        os.execv(program, ["assay-store", mode])
    theirs.close()
    ours.sendall(frame(1, [database, key, agent, "RESULT", "SUBMISSION", supersedes, match, ""]))
    for text in frames:
        kind, *fields = text.split()
        try:
            ours.sendall(frame(int(kind), fields))
        except OSError:
            break
    ours.shutdown(socket.SHUT_WR)
    answers(ours)
    os.waitpid(child, 0)


main()
