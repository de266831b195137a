"""Runs a program on a pseudo-terminal, as a person does. Reads one JSON object from standard input:

  argv, cwd, env    the command line, with an absolute path of the program
  columns, rows     the size of the terminal
  user              the user id of the program; null: the current user
  ignoresHangup     whether the program ignores SIGHUP when it starts
  steps             what the person does, in order: [text that has to be shown first, deed, value]. The deeds:
                    "type" a text, "signal" by its name, "close" the terminal
  seconds           limit for the whole run

Prints one JSON object: what was shown, and exitCode, which is negative for a signal, and null if the time was over.
"""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

run = json.load(sys.stdin)
deadline = time.monotonic() + run["seconds"]


def start_program(terminal):
    """Gives the process a session whose terminal is `terminal`, and becomes the program. Never returns."""
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    os.chdir(run["cwd"])
    if run["ignoresHangup"]:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    for descriptor in range(3):
        os.dup2(terminal, descriptor)
    os.closerange(3, 256)
    if run["user"] is not None:
        os.fchown(0, run["user"], -1)
        os.setgroups([])
        os.setgid(run["user"])
        os.setuid(run["user"])
    os.execve(run["argv"][0], run["argv"], run["env"])


def read_until(master, wanted, shown):
    """Reads what is shown until it contains `wanted`. Returns it, and whether more can come."""
    while wanted is None or wanted not in shown:
        if not select.select([master], [], [], max(0, deadline - time.monotonic()))[0]:
            return shown, False
        try:
            part = os.read(master, 65536)
        except OSError:
            return shown, False
        if part == b"":
            return shown, False
        shown += part
    return shown, True


def wait_for_end(child):
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended != 0:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


master, terminal = pty.openpty()
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", run["rows"], run["columns"], 0, 0))
child = os.fork()
if child == 0:
    try:
        start_program(terminal)
    finally:
        os._exit(127)
os.close(terminal)

shown, before = b"", b""
is_open = True
for text, deed, value in run["steps"]:
    shown, is_open = read_until(master, text.encode(), shown)
    if not is_open:
        break
    # The next step waits for what is shown after this one.
    end = shown.index(text.encode()) + len(text.encode())
    before, shown = before + shown[:end], shown[end:]
    if deed == "type":
        os.write(master, value.encode())
    elif deed == "signal":
        os.kill(child, signal.Signals[value])
    elif deed == "close":
        os.close(master)
        is_open = False
        break
if is_open:
    shown, _ = read_until(master, None, shown)

text = (before + shown).decode("utf8", "replace")
json.dump({"shown": text, "exitCode": wait_for_end(child)}, sys.stdout)
