"""What torch.distributed's stores order between processes, for recordings (csan merge --order).

Who reads a value comes after who set it. So a value is known by its store, its key and its bytes: what
`set` publishes, `get` learns. `wait` and `check` learn that the key is there. A counter's value is
learned by the `add` that makes the next one.

A store is known by its port (TCPStore) or its file (FileStore), and by the prefixes in front of its keys.
Calls that PyTorch's C++ makes are not seen here; NCCL's collectives order processes by themselves.
"""

import ctypes
import functools
import hashlib
import os
import weakref

from . import api

_THERE = b"there\0"  # no key of a store has this in it
# The state of torchrun's agents. No two of its values are equal: each names who set it, and when.
_ELASTIC = "torch.rendezvous."


class _Links:
    def __init__(self, table):
        self._table = table
        self._published = set()  # keys that this process has set
        self._lacks = False

    def _make(self, kind, key):
        self._table.link(ctypes.byref(api.Link(kind=kind, key=key)))

    @staticmethod
    def _number(*parts):
        digest = hashlib.blake2b(digest_size=8)
        for part in parts:
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
        return int.from_bytes(digest.digest(), "little") or 1

    def publish(self, name, value):
        if name not in self._published:
            self._published.add(name)
            self._make(api.LINK_PUBLISH, self._number(name, _THERE))
        self._make(api.LINK_PUBLISH, self._number(name, b"=", value))

    def learn(self, name, value):
        self._make(api.LINK_LEARN, self._number(name, b"=", value))

    def learn_there(self, name):
        self._make(api.LINK_LEARN, self._number(name, _THERE))

    def lack(self):
        """Something that is not followed; said once."""
        if not self._lacks:
            self._lacks = True
            self._make(api.LINK_LACK, api.LACK_STORE)


def _bytes(value):
    return value.encode() if isinstance(value, str) else bytes(value)


class _Names:
    """Of keys, as all processes have them."""

    def __init__(self, distributed):
        self._distributed = distributed
        self._prefixes = weakref.WeakKeyDictionary()

    def note(self, store, prefix, under):
        self._prefixes[store] = (prefix, under)

    def _of_store(self, store):
        """None: it is of this process alone, or not known."""
        prefix = self._prefixes.get(store)
        if prefix:
            under = self._of_store(prefix[1])
            return under and under + [prefix[0]]
        if isinstance(store, self._distributed.TCPStore):
            return ["tcp", str(store.port)]
        if isinstance(store, self._distributed.FileStore):
            return ["file", os.path.realpath(store.path)]
        return None

    def of_key(self, store, key):
        name = self._of_store(store)
        return name and "\0".join(name + [key]).encode()


class _Calls:
    """Store's methods, with what each orders."""

    def __init__(self, links, names):
        self._links = links
        self._names = names

    def _each(self, store, keys, learn):
        for key in keys:
            name = self._names.of_key(store, key)
            if name:
                learn(name)

    def set(self, method, store, key, value):
        name = self._names.of_key(store, key)
        if name:
            self._links.publish(name, _bytes(value))
        return method(store, key, value)

    def multi_set(self, method, store, keys, values):
        for key, value in zip(keys, values):
            name = self._names.of_key(store, key)
            if name:
                self._links.publish(name, _bytes(value))
        return method(store, keys, values)

    def get(self, method, store, key):
        value = method(store, key)
        self._each(store, [key], lambda name: self._links.learn(name, _bytes(value)))
        return value

    def multi_get(self, method, store, keys):
        values = method(store, keys)
        for key, value in zip(keys, values):
            self._each(store, [key], lambda name: self._links.learn(name, _bytes(value)))
        return values

    def wait(self, method, store, keys, *rest):
        method(store, keys, *rest)
        self._each(store, keys, self._links.learn_there)

    def check(self, method, store, keys):
        there = method(store, keys)
        if there:
            self._each(store, keys, self._links.learn_there)
        return there

    def add(self, method, store, key, amount):
        value = method(store, key, amount)
        name = self._names.of_key(store, key)
        if name and value != amount:
            self._links.learn(name, str(value - amount).encode())
        if name and amount:
            self._links.publish(name, str(value).encode())
        return value

    def compare_set(self, method, store, key, expected, desired):
        value = method(store, key, expected, desired)
        name = self._names.of_key(store, key)
        if not name or (_bytes(value) == _bytes(expected) != _bytes(desired)):
            return value  # the key is not there
        if _bytes(value) != _bytes(desired):
            self._links.learn(name, _bytes(value))
            return value
        if expected and key.startswith(_ELASTIC):
            self._links.learn(name, _bytes(expected))
        elif expected:  # it may have been there, or another process's value before
            self._links.lack()
        self._links.publish(name, _bytes(desired))
        return value

    def queue_push(self, method, store, key, value, *rest):
        name = self._names.of_key(store, key)
        if name:
            self._links.publish(name + b"\0queue", _bytes(value))
        return method(store, key, value, *rest)

    def queue_pop(self, method, store, key, *rest):
        value = method(store, key, *rest)
        name = self._names.of_key(store, key)
        if name:
            self._links.learn(name + b"\0queue", _bytes(value))
        return value

    def append(self, method, store, *arguments):
        return self._unfollowed(method, store, *arguments)

    def num_keys(self, method, store, *arguments):
        return self._unfollowed(method, store, *arguments)

    def list_keys(self, method, store, *arguments):
        return self._unfollowed(method, store, *arguments)

    def queue_len(self, method, store, *arguments):
        return self._unfollowed(method, store, *arguments)

    def _unfollowed(self, method, store, *arguments):
        if self._names.of_key(store, ""):
            self._links.lack()
        return method(store, *arguments)


_METHODS = ("set", "multi_set", "get", "multi_get", "wait", "check", "add", "compare_set", "queue_push", "queue_pop",
            "append", "num_keys", "list_keys", "queue_len")

def _wrapped(method, call, links):
    @functools.wraps(method)
    def follows(store, *arguments, **named):
        if not named:
            return call(method, store, *arguments)
        links.lack()  # arguments have names in some versions alone
        return method(store, *arguments, **named)

    return follows


def _follow(table):
    import torch.distributed as distributed

    if not distributed.is_available():
        return
    names = _Names(distributed)
    links = _Links(table)
    calls = _Calls(links, names)
    for name in _METHODS:
        method = getattr(distributed.Store, name, None)
        if method:
            setattr(distributed.Store, name, _wrapped(method, getattr(calls, name), links))
    begin = distributed.PrefixStore.__init__

    @functools.wraps(begin)
    def begin_noted(self, *arguments, **named):
        begin(self, *arguments, **named)
        given = dict(zip(("prefix", "store"), arguments), **named)
        names.note(self, given["prefix"], given["store"])

    distributed.PrefixStore.__init__ = begin_noted


def install():
    """Follow the stores once torch.distributed is imported, where links go into a recording."""
    from .startup import when_imported

    table = api.find()
    if table and table.has("links") and table.links():
        when_imported("torch.distributed", lambda: _follow(table))
