"""csan's options, as far as Python must know them before libcsan is asked."""

import os
import re


def switched_off(option):
    """Whether CSAN_OPTIONS says 0 for it; what is said last counts."""
    said = re.findall(rf"(?:^|[:,\s]){option}=(\w+)", os.environ.get("CSAN_OPTIONS", ""))
    return bool(said) and said[-1] in ("0", "false", "no")
