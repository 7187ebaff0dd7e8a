"""What the pipes and queues of multiprocessing order between processes, for recordings (csan merge --order).

Who takes a message out comes after who put it in. Both ends of a pipe have one inode. A Pipe that goes both
ways is two sockets: the kernel says which one is the other end, while that is open. A message is known by its
bytes. Of equal ones the first that was put in comes out first.

A link begins the recording, and a process that has one cannot be forked into others that are checked. So a
process that multiprocessing did not start makes links only once it uses CUDA.
"""

import ctypes
import functools
import hashlib
import os
import socket
import stat
import struct
import weakref

from . import api


_SOCK_DIAG, _BY_FAMILY, _SHOW_PEER, _PEER = 4, 20, 4, 2  # of linux/sock_diag.h and linux/unix_diag.h
_ANY = 0xFFFFFFFF


def _peer(inode):
    """The socket that is connected to a local one; None: there is none, or the kernel does not say (sock_diag(7))."""
    body = struct.pack("=BBHIIIII", socket.AF_UNIX, 0, 0, _ANY, inode, _SHOW_PEER, _ANY, _ANY)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as asked:
            asked.settimeout(1)
            asked.send(struct.pack("=IHHII", 16 + len(body), _BY_FAMILY, 1, 1, 0) + body)
            answer = asked.recv(8192)
    except OSError:
        return None
    at = 32  # behind both heads
    length, kind = struct.unpack_from("=IH", answer) if len(answer) >= at else (0, 0)
    while kind == _BY_FAMILY and at + 8 <= min(length, len(answer)):
        size, what = struct.unpack_from("=HH", answer, at)
        if what == _PEER:
            return struct.unpack_from("=I", answer, at + 4)[0] or None
        at += max(size + 3 & ~3, 4)
    return None


class _Ends:
    """What both ends of a connection call its two directions."""

    def __init__(self):
        self._peers = weakref.WeakKeyDictionary()  # the other socket may be closed before the last message is read

    def note(self, connection):
        try:
            file = os.fstat(connection.fileno())
        except OSError:
            return
        if stat.S_ISSOCK(file.st_mode):
            self._peers[connection] = (file.st_ino, _peer(file.st_ino))

    def direction(self, connection, sends):
        """None: the two ends have nothing in common that is known here."""
        try:
            file = os.fstat(connection.fileno())
        except OSError:
            return None
        if stat.S_ISFIFO(file.st_mode):
            return b"pipe %d %d " % (file.st_dev, file.st_ino)
        if self._peers.get(connection, (None,))[0] != file.st_ino:
            self.note(connection)
        own, peer = self._peers.get(connection, (None, None))
        if peer is None:
            return None
        return b"socket %d %d " % ((own, peer) if sends else (peer, own))


def _key(direction, message):
    digest = hashlib.blake2b(digest_size=8)
    digest.update(direction)
    digest.update(message)
    return int.from_bytes(digest.digest(), "little") or 1


def _follow(table):
    from multiprocessing.connection import Connection
    from multiprocessing.process import parent_process

    begin, send, receive = Connection.__init__, Connection._send_bytes, Connection._recv_bytes
    ends = _Ends()

    def link(kind, connection, message):
        if not parent_process() and not table.activity():
            return
        direction = ends.direction(connection, kind == api.LINK_PUBLISH)
        if direction is not None:
            table.link(ctypes.byref(api.Link(kind=kind, key=_key(direction, message), peers=1)))

    @functools.wraps(begin)
    def begins(self, *arguments, **named):
        begin(self, *arguments, **named)
        ends.note(self)

    @functools.wraps(send)
    def sends(self, message):
        link(api.LINK_PUBLISH, self, message)
        return send(self, message)

    @functools.wraps(receive)
    def receives(self, *most):
        message = receive(self, *most)
        if message is not None:
            link(api.LINK_LEARN, self, message.getbuffer())
        return message

    Connection.__init__, Connection._send_bytes, Connection._recv_bytes = begins, sends, receives


def install():
    """Follow multiprocessing once it is imported, where links go into a recording."""
    from .startup import when_imported

    table = api.find()
    if table and table.has("links") and table.links():
        when_imported("multiprocessing.connection", lambda: _follow(table))
