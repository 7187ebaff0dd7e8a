"""pytest --csan: a test in which csan finds a race fails, with the report as its failure text.

pytest starts itself again under `csan run`, so nothing has to be installed or preloaded by hand. A race counts for
the test, and for its phase (setup, call, teardown), in which the second access was enqueued.
"""

import os
import re
import sys

import pytest

from .findings import Checker, command

_STARTED = "CSAN_PYTEST"  # set where pytest was started again


def pytest_addoption(parser):
    group = parser.getgroup("csan", "data races between CUDA streams")
    group.addoption("--csan", action="store_true", default=False, help="fail tests in which csan finds a race")
    group.addoption("--csan-device", choices=("auto", "gpu", "embedded"), default=None,
                    help="the device, as `csan run --device` (embedded: without a GPU)")
    group.addoption("--csan-options", default="", metavar="NAME=VALUE:...", help="more options of csan")
    group.addoption("--csan-possible", action="store_true", default=False, help="possible races fail tests, too")
    parser.addini("csan", "check all tests, as --csan does", type="bool", default=False)


def pytest_configure(config):
    config.addinivalue_line("markers", "csan_allow(match=None): races, or those whose report the regular expression "
                            "finds, are shown and do not fail the test")
    config.addinivalue_line("markers", "csan_expect(match=None, count=None): the test fails unless csan finds a race "
                            "whose report the regular expression finds; `count`: exactly so many")
    if _wanted(config):
        config.pluginmanager.register(Plugin(config), "csan-checker")


def _wanted(config):
    return config.getoption("csan") or config.getini("csan")


# ---- Starting again


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    if _wanted_early(early_config) and not Checker().active and os.environ.get(_STARTED) != "1":
        _start_again(early_config)


def _wanted_early(config):
    return getattr(config.known_args_namespace, "csan", False) or config.getini("csan")


def _start_again(config):
    """Becomes `csan run python ...` with the same arguments."""
    arguments = getattr(sys, "orig_argv", None)
    arguments = [sys.executable, *(arguments[1:] if arguments else _arguments_before_3_10())]
    namespace = config.known_args_namespace
    options = ":".join(filter(None, ["halt_on_error=0:exitcode=0", namespace.csan_options]))
    run = [command(), "run", f"--options={options}"]
    if namespace.csan_device:
        run.append(f"--device={namespace.csan_device}")
    if not os.access(run[0], os.X_OK):
        raise pytest.UsageError(f"--csan: {run[0]} cannot be run; set CSAN_COMMAND to the command csan")
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture:
        capture.stop_global_capturing()  # what pytest has put in the place of standard output
    os.environ[_STARTED] = "1"
    sys.stdout.flush()
    os.execv(run[0], [*run, "--", *arguments])


def _arguments_before_3_10():
    if os.path.basename(sys.argv[0]) == "__main__.py":
        return ["-m", "pytest", *sys.argv[1:]]
    return sys.argv


# ---- Checking


class Plugin:
    def __init__(self, config):
        self.possible = config.getoption("csan_possible")
        self.checker = Checker()
        self.tests = self.found = self.allowed = 0
        self.mark = 0
        if not self.checker.active:
            raise pytest.UsageError("--csan: csan is not in this process; is CSAN=0 set, or is the interpreter linked "
                                    "statically?")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item):
        self.checker.clear()
        self.mark = self.checker.mark()
        item.csan_expected = 0

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        found = self.checker.since(self.mark)
        self.checker.clear()
        self.mark = self.checker.mark()
        report = outcome.get_result()
        self.tests += call.when == "call"
        found = [f for f in found if self.possible or not f.possible]
        self._judge(item, report, found)

    def _judge(self, item, report, found):
        expected, others = _split(found, item.get_closest_marker("csan_expect"))
        allowed, failing = _split(others, item.get_closest_marker("csan_allow"))
        item.csan_expected += len(expected)
        _drop_printed(report, found)
        if hasattr(report, "wasxfail"):  # it is to fail, and a race is a failure
            allowed, failing = allowed + failing, []
            if allowed and report.outcome == "passed":
                report.outcome = "skipped"
        self.found += len(failing)
        self.allowed += len(allowed) + len(expected)
        if allowed or expected:
            report.sections.append(("csan: allowed or expected", _text(allowed + expected)))
        if failing:
            _fail(report, _text(failing))
        if report.when == "call" and report.outcome == "passed":
            missing = _missing(item)
            if missing:
                _fail(report, missing)

    # Workers of xdist send their counts to the process that prints the summary.

    def pytest_sessionfinish(self, session):
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["csan"] = (self.tests, self.found, self.allowed)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        counts = getattr(node, "workeroutput", {}).get("csan", (0, 0, 0))
        self.tests, self.found, self.allowed = (a + b for a, b in zip((self.tests, self.found, self.allowed), counts))

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.write_line(
            f"csan: {_counted(self.tests, 'test')} checked: {_counted(self.found, 'finding')}, "
            f"{self.allowed} allowed or expected")


def _counted(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _pattern(marker):
    return marker.args[0] if marker.args else marker.kwargs.get("match")


def _split(found, marker):
    """What the marker is about, and the rest."""
    if marker is None:
        return [], found
    pattern = re.compile(_pattern(marker) or "")
    return [f for f in found if pattern.search(f.report)], [f for f in found if not pattern.search(f.report)]


def _missing(item):
    """What a csan_expect was not given; None: nothing."""
    marker = item.get_closest_marker("csan_expect")
    if marker is None:
        return None
    count, pattern = marker.kwargs.get("count"), _pattern(marker)
    of = f" whose report has '{pattern}'" if pattern else ""
    if count is None and item.csan_expected == 0:
        return f"csan: a race{of} was expected, and none was found"
    if count is not None and count != item.csan_expected:
        return f"csan: {_counted(count, 'race')}{of} expected, {item.csan_expected} found"
    return None


def _fail(report, text):
    """The report of a phase fails. What it failed for before stays, in front."""
    if report.outcome == "failed":
        report.sections.append(("csan", text))
        return
    report.outcome = "failed"
    report.longrepr = text


_FRAME = re.compile(r'  File "(<string>"|.*[/\\](_pytest|pluggy|execnet|xdist)[/\\]|.*[/\\]pytest[/\\]__main__\.py")')


def _text(found):
    return "\n".join(_without_pytest(f.report) for f in found)


def _without_pytest(report):
    """The stacks without the frames of pytest itself."""
    lines, left_out = [], False
    for line in report.splitlines():
        if line.startswith("  File "):
            left_out = bool(_FRAME.match(line))
        elif not line.startswith("    "):
            left_out = False
        if not left_out:
            lines.append(line)
    return "\n".join(lines)


def _drop_printed(report, found):
    """csan prints reports to standard error, which pytest shows, too."""
    sections = []
    for name, content in report.sections:
        for finding in found:
            content = content.replace(finding.report, "")
        if content.strip() and not set(content.strip()) <= {"="}:
            sections.append((name, content))
    report.sections = sections
