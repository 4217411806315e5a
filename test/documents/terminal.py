"""A terminal with somebody at it: runs a script of bash in it and answers what it asks."""
import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

# What is asked, at the end of what was printed, and what a person types then.
ANSWERS = (
    (r"(Operator's passphrase|Passphrase of operator \S+|Present passphrase|New passphrase|Passphrase|The same again)[^\n]*: $", "PASSPHRASE\n"),
    (r"Token \(not shown while you type\): $", "TOKEN\n"),
    (r"Client secret \(not shown while you type\): $", "SECRET\n"),
    (r"\[y/N\] $", "y\n"),
    (r"j, k: next, previous   Enter: look at it   q: end\r?\n$", "q"),
)
ASKED_OPENLY = r"\[y/N\]"


def wait_for_silence(terminal):
    """A program prints its question, then turns the echo off, and with it forgets what was typed before."""
    end = time.monotonic() + 10
    while termios.tcgetattr(terminal)[3] & termios.ECHO and time.monotonic() < end:
        time.sleep(0.002)


def run(script, environment, directory, words, seconds):
    """(exit code, what the terminal showed). `words`: what stands for PASSPHRASE, TOKEN and SECRET."""
    upper, lower = pty.openpty()
    fcntl.ioctl(lower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
    process = subprocess.Popen(["bash", str(script)], stdin=lower, stdout=lower, stderr=lower, cwd=directory, env=environment,
                               start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(lower)
    shown, asked_from, end = "", 0, time.monotonic() + seconds
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while time.monotonic() < end:
        if not select.select([upper], [], [], 0.1)[0]:
            if process.poll() is not None:
                break
            continue
        try:
            part = os.read(upper, 65536)
        except OSError:
            break
        if not part:
            break
        shown += decoder.decode(part)
        for question, answer in ANSWERS:
            if re.search(question, shown[asked_from:]):
                asked_from = len(shown)
                if not question.startswith(ASKED_OPENLY):
                    wait_for_silence(upper)
                os.write(upper, words.get(answer.strip(), answer.strip()).encode() + answer[len(answer.strip()):].encode())
                break
    else:
        shown += f"\n(not ended after {seconds} s)\n"
        os.killpg(process.pid, signal.SIGKILL)
    os.close(upper)
    return process.wait(), re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).replace("\r\n", "\n")
