# Turns its pipes around, resizes and fills them, and leaves them with a child.
import fcntl
import os

for fd in range(3):
    for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):
        try:
            other = os.open("/proc/self/fd/%d" % fd, flags | os.O_NONBLOCK)
            if fd == 0 and flags != os.O_RDONLY:
                os.write(other, b"forged\n" * 10000)
        except OSError:
            pass
    for command, value in ((fcntl.F_SETPIPE_SZ, 4096), (fcntl.F_SETPIPE_SZ, 1 << 20), (fcntl.F_SETFL, os.O_NONBLOCK),
                           (fcntl.F_SETFL, 0), (fcntl.F_SETOWN, os.getpid()), (fcntl.F_SETLEASE, fcntl.F_WRLCK)):
        try:
            fcntl.fcntl(fd, command, value)
        except OSError:
            pass
os.closerange(3, 100)
if os.fork() == 0:
    os.execvp("sleep", ["sleep", "1000"])
