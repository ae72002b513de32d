"""Runs a command as its child, and ends the command's process group when the process that wants it is gone.

A script of its own, not part of the package's imports. ``child.py`` starts it, and holds the one end of a pipe, the
*lifeline*, of which this script watches the other. The system closes it whatever ends that process, ``kill -9``
included. The command has a session of its own, as it would have without this script, so what it does to its own group
does not reach us. We end as it ended: with its exit status, or by its signal.

Every millisecond here comes before the command's own start, so it imports as little as possible.
"""

import os
import select
import sys
from _signal import (  # type: ignore[import-not-found]  # the module signal takes 6 ms
    SIG_DFL,
    SIG_IGN,
    SIG_UNBLOCK,
    SIGCHLD,
    SIGHUP,
    SIGINT,
    SIGKILL,
    SIGPIPE,
    SIGTERM,
    SIGXFSZ,
    getsignal,
    pthread_sigmask,
    set_wakeup_fd,
    signal,
)

_LOOK_MS = 1_000  # how often we look whether the asker lives: a fork of it may hold the lifeline open


def run(lifeline: int, report: int, asker: int, locale: str, argv: "list[str]") -> int:
    """Run the command, and return how it ended: its exit status; negative: the signal that ended it.

    Args:
        lifeline: a descriptor that can be read when the command must end.
        report: a descriptor for the ``errno`` of a failed start; it is closed when the command has started.
        asker: the process that wants the command.
        locale: ``=`` and the command's ``LC_CTYPE``; empty when it has none.
    """
    for descriptor in (lifeline, report):
        os.set_inheritable(descriptor, False)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    set_wakeup_fd(wake)
    for number in (SIGCHLD, SIGTERM, SIGHUP, SIGINT):
        if getsignal(number) != SIG_IGN or number == SIGCHLD:  # what is ignored stays so, for the command too
            signal(number, lambda *_: None)
    try:
        command = os.fork()
    except OSError as error:
        os.write(report, str(error.errno).encode())
        return 1
    if command == 0:
        _become(report, locale, argv)
    os.close(report)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):  # the pipes are the command's alone
        os.dup2(null, stream)
    return _watch(lifeline, woken, asker, command)


def _become(report: int, locale: str, argv: "list[str]") -> None:
    """Become the command, with what Python has changed for itself put back."""
    try:
        os.setsid()
        for number in (SIGPIPE, SIGXFSZ):
            signal(number, SIG_DFL)
        if locale:
            os.environ["LC_CTYPE"] = locale[1:]
        else:
            os.environ.pop("LC_CTYPE", None)
        _execute(argv)
    except OSError as error:
        os.write(report, str(error.errno).encode())
    finally:
        os._exit(127)


def _execute(argv: "list[str]") -> None:
    """Execute the program, looked up on PATH as subprocess does."""
    folders = [""] if os.sep in argv[0] else os.environ.get("PATH", os.defpath).split(os.pathsep)
    failures = []
    for folder in folders:
        try:
            os.execv(os.path.join(folder, argv[0]), argv)  # noqa: S606
        except OSError as error:
            failures.append(error)
    found = [error for error in failures if not isinstance(error, (FileNotFoundError, NotADirectoryError))]
    raise (found or failures)[-1]


def _watch(lifeline: int, woken: int, asker: int, command: int) -> int:
    events = select.poll()
    for descriptor in (lifeline, woken):
        events.register(descriptor, select.POLLIN)
    over = False
    while True:
        for descriptor, _ in events.poll(_LOOK_MS):
            # What is no word of a child is a signal that asks us to end.
            if descriptor == lifeline or os.read(woken, 512).strip(bytes([SIGCHLD])):
                over = True
        if over or os.getppid() != asker:
            _end(command)
        ended, status = os.waitpid(command, os.WNOHANG)
        if ended:
            _end_rest(command)
            return os.waitstatus_to_exitcode(status)


def _end(command: int) -> None:
    """End the command and its group; it may not have made its group yet."""
    _end_rest(command)
    os.kill(command, SIGKILL)  # not waited for, so the number is its own


def _end_rest(command: int) -> None:
    """End what is left of the command's group."""
    try:
        os.killpg(command, SIGKILL)
    except OSError:  # nothing is left
        return


def end_as(status: int) -> None:
    """End this process as the command ended."""
    if status < 0:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -status != SIGKILL:
            signal(-status, SIG_DFL)
            pthread_sigmask(SIG_UNBLOCK, [-status])
        os.kill(os.getpid(), -status)
    os._exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    end_as(run(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5:]))
