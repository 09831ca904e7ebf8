# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The same messages to several servers at once, in batches, over UDP and TCP.

Behind the messages of a batch goes one that is always answered. A server answers in the order in
which it was asked, so when this last answer is there, what is missing was not answered.
"""
import select
import socket
import struct
import time

import dns.message

LAST_ID = 0xfffe
BATCH = 100
SECONDS = 20  # for a batch, in which a machine may be busy with other things


def numbered(batch, base):
    return [struct.pack("!H", base + i) + wire[2:] for i, wire in enumerate(batch)]


class Asker:
    """A UDP and a TCP way to each of SERVERS; ORIGIN is a zone that all of them have."""

    def __init__(self, servers, origin):
        self.addresses = {s.kind: s.address for s in servers}
        self.udp = {}
        for kind, address in self.addresses.items():
            sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
            sock.connect(address)
            sock.setblocking(False)
            self.udp[kind] = sock
        self.tcp = {}
        # The next batch's first id: named does not answer the same fault under one id twice.
        self.base = 0
        query = dns.message.make_query(origin, "SOA")
        query.id = LAST_ID
        self.last = query.to_wire()

    def number(self, batch):
        """(ids, messages with them)."""
        self.base = (self.base + BATCH) % (LAST_ID - 2 * BATCH)
        ids = range(self.base, self.base + len(batch))
        return ids, dict(zip(ids, numbered(batch, self.base)))

    def close(self):
        for sock in [*self.udp.values(), *(s for s in self.tcp.values() if s)]:
            sock.close()

    def once_udp(self, kinds, numbers, batch):
        """{kind: {number: reply}} of the messages with these NUMBERS."""
        found = {kind: {} for kind in kinds}
        poll = select.poll()
        waiting = {}
        for kind in kinds:
            sock = self.udp[kind]
            for i in numbers[kind]:
                sock.send(batch[i])
            sock.send(self.last)
            poll.register(sock, select.POLLIN)
            waiting[sock.fileno()] = kind
        end = time.monotonic() + SECONDS
        while waiting and time.monotonic() < end:
            for fd, _ in poll.poll(200):
                kind = waiting[fd]
                if self.drain(self.udp[kind], found[kind]):
                    poll.unregister(fd)
                    del waiting[fd]
        assert not waiting, f"{' '.join(waiting.values())}: no answer to the last query of a batch"
        return found

    @staticmethod
    def drain(sock, found):
        """Whether the last answer is there."""
        done = False
        while True:
            try:
                reply = sock.recv(65535)
            except BlockingIOError:
                return done
            number = struct.unpack_from("!H", reply)[0]
            if number == LAST_ID:
                done = True
            else:
                found[number] = reply

    def ask_udp(self, batch):
        """[{kind: reply or None}] over UDP. What seems unanswered is asked once more."""
        ids, batch = self.number(batch)
        numbers = dict.fromkeys(self.udp, ids)
        found = self.once_udp(list(self.udp), numbers, batch)
        missing = {kind: [i for i in numbers[kind] if i not in found[kind]] for kind in found}
        missing = {kind: left for kind, left in missing.items() if left}
        if missing:
            for kind, replies in self.once_udp(list(missing), missing, batch).items():
                found[kind].update(replies)
        return [{kind: found[kind].get(i) for kind in found} for i in ids]

    def connection(self, kind):
        if not self.tcp.get(kind):
            self.tcp[kind] = socket.create_connection(self.addresses[kind], timeout=SECONDS)
            self.tcp[kind].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self.tcp[kind]

    def send_tcp(self, kind, messages):
        data = b"".join(struct.pack("!H", len(m)) + m for m in messages)
        for _ in range(2):  # a connection may have been closed meanwhile
            try:
                return self.connection(kind).sendall(data)
            except OSError:
                self.drop(kind)
        return None

    def drop(self, kind):
        if self.tcp.get(kind):
            self.tcp[kind].close()
        self.tcp[kind] = None

    def receive_tcp(self, kind, found):
        """Whether the last answer came before the connection's end."""
        sock, data = self.tcp[kind], b""
        while sock:
            try:
                more = sock.recv(1 << 18)
            except ConnectionError:
                more = b""
            if not more:
                self.drop(kind)
                return False
            data += more
            at = 0
            while len(data) - at >= 2:
                n = struct.unpack_from("!H", data, at)[0]
                if len(data) - at - 2 < n:
                    break
                reply = data[at + 2:at + 2 + n]
                at += 2 + n
                number = struct.unpack_from("!H", reply)[0]
                if number == LAST_ID:
                    return True
                found[number] = reply
            data = data[at:]
        return False

    def ask_tcp(self, batch):
        """[{kind: reply or None}] over one connection with each, which are pipelined (RFC 7766)."""
        ids, batch = self.number(batch)
        found = {kind: {} for kind in self.udp}
        for kind in self.udp:
            self.send_tcp(kind, [*batch.values(), self.last])
        for kind, replies in found.items():
            todo, first = list(ids), None
            while not self.receive_tcp(kind, replies):
                todo = [i for i in todo if i not in replies]
                if todo and todo[0] == first:  # twice it hung up on this one
                    del todo[0]
                first = todo[0] if todo else None
                self.send_tcp(kind, [*(batch[i] for i in todo), self.last])
        return [{kind: found[kind].get(i) for kind in found} for i in ids]
