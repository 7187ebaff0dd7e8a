"""What the pipes and queues of multiprocessing order between processes, for recordings (csan merge --order).

Who takes a message out comes after who put it in. Both ends of a pipe have one inode, and a message is known
by its bytes. Of equal ones the first that was put in comes out first.

A link begins the recording, and a process that has one cannot be forked into others that are checked. So a
process that multiprocessing did not start makes links only once it uses CUDA.
"""

import ctypes
import functools
import hashlib
import os
import stat

from . import api


def _key(connection, message):
    """None: it is no pipe, and its two ends have nothing in common that is known here."""
    try:
        file = os.fstat(connection.fileno())
    except OSError:
        return None
    if not stat.S_ISFIFO(file.st_mode):
        return None
    digest = hashlib.blake2b(digest_size=8)
    digest.update(b"pipe %d %d " % (file.st_dev, file.st_ino))
    digest.update(message)
    return int.from_bytes(digest.digest(), "little") or 1


def _follow(table):
    from multiprocessing.connection import Connection
    from multiprocessing.process import parent_process

    send, receive = Connection._send_bytes, Connection._recv_bytes

    def link(kind, connection, message):
        if not parent_process() and not table.activity():
            return
        key = _key(connection, message)
        if key is not None:
            table.link(ctypes.byref(api.Link(kind=kind, key=key, peers=1)))

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

    Connection._send_bytes, Connection._recv_bytes = sends, receives


def install():
    """Follow multiprocessing once it is imported, where links go into a recording."""
    from .startup import when_imported

    table = api.find()
    if table and table.has("links") and table.links():
        when_imported("multiprocessing.connection", lambda: _follow(table))
