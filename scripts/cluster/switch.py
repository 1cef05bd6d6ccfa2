"""A network switch in user space: switch.py MS READY PID...

Makes eth0 in the network namespace of each process, and passes frames on between them after MS
milliseconds. For kernels without netem.
"""
import collections
import ctypes
import fcntl
import os
import select
import struct
import sys
import time

delay, ready, pids = float(sys.argv[1]) / 1000, sys.argv[2], sys.argv[3:]
libc = ctypes.CDLL(None, use_errno=True)
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 2, 0x1000


def enter(path):
    with open(path) as namespace:
        if libc.setns(namespace.fileno(), 0x40000000):
            raise OSError(ctypes.get_errno(), path)


home = open("/proc/self/ns/net")
ports = []
for number, pid in enumerate(pids):
    enter(f"/proc/{pid}/ns/net")
    port = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(port, TUNSETIFF, struct.pack("16sH", b"eth0", IFF_TAP | IFF_NO_PI))
    ports.append(port)
libc.setns(home.fileno(), 0x40000000)

poll = select.epoll()
for port in ports:
    poll.register(port, select.EPOLLIN)
known = {}  # which port an address was last seen behind
queue = collections.deque()  # equal delays: first in, first out
open(ready, "w").close()
while True:
    wait = max(0.0, queue[0][0] - time.monotonic()) if queue else None
    for port, _ in poll.poll(wait):
        for _ in range(64):
            try:
                frame = os.read(port, 65536)
            except BlockingIOError:
                break
            known[frame[6:12]] = port
            queue.append((time.monotonic() + delay, port, frame))
    now = time.monotonic()
    while queue and queue[0][0] <= now:
        _, source, frame = queue.popleft()
        to = known.get(frame[:6])
        for port in [to] if to is not None else ports:
            if port != source:
                try:
                    os.write(port, frame)
                except OSError:  # down, or its queue is full: lost, as on a network
                    pass
