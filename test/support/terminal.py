"""Runs a command on a pseudo terminal: argv[1] its columns, argv[2] its columns after the tenth redraw, argv[3:] the
command. Twenty redraws later Ctrl-C is typed. REDRAWS in the environment: instead of ten, and half of twenty. UNTIL: what
must be in the newest redraw before Ctrl-C is typed. Prints JSON: what was written, and the exit code."""

import fcntl
import json
import os
import struct
import subprocess
import sys
import termios

REDRAW = b"\r\x1b[K"
REDRAWS = int(os.environ.get("REDRAWS", "10"))
UNTIL = os.environ.get("UNTIL", "").encode()


def resize(fd, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def control_terminal():
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


main, terminal = os.openpty()
resize(main, int(sys.argv[1]))
process = subprocess.Popen(sys.argv[3:], stdin=terminal, stdout=terminal, stderr=terminal, preexec_fn=control_terminal)
os.close(terminal)
written = b""
resized = interrupted = False
while True:
    try:
        chunk = os.read(main, 65536)
    except OSError:  # Linux: the other side is closed
        break
    if not chunk:
        break
    written += chunk
    if not resized and written.count(REDRAW) >= REDRAWS:
        resize(main, int(sys.argv[2]))
        resized = True
    if not interrupted and written.count(REDRAW) >= 3 * REDRAWS and UNTIL in written[written.rindex(REDRAW) :]:
        os.write(main, b"\x03")
        interrupted = True
print(json.dumps({"written": written.decode(), "code": process.wait()}))
