"""Blocks of pools, declared to libcsan in this process."""

from csan_torch import api


class Blocks:
    """Fails open: what cannot be declared is not, and the program goes on."""

    def __init__(self, table):
        self._table = table

    @classmethod
    def of_this_process(cls):
        """None: csan is not in this process, or off."""
        table = api.find()
        return cls(table) if table else None

    def given_out(self, address, size, stream=0):
        """Call it after the pool's own function. `stream` is its handle; 0 where nobody says."""
        if address and size > 0:
            self._table.pool_alloc(address, size, stream)

    def taken_back(self, address, stream=0):
        """Call it before the pool's own function: after it another thread may have the block."""
        if address:
            self._table.pool_free(address, stream)
