"""Set the course up, then run one of its verbs:  python course.py lab

It needs nothing but Python: it makes .venv beside this file, installs requirements.txt there and
hands the verb to ``python -m utils``. A later call finds all that done and starts at once.

The syntax is old on purpose (no annotations, no f-strings): an old Python must be able to read
this file in order to say that it is too old.
"""

from __future__ import print_function

import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time

USAGE = """usage: python course.py VERB [options]

  lab          open the course in JupyterLab; its options, as --no-browser, pass through
  reset NAME   start an exercise notebook again, for example 01; the old one is kept beside it
  test         run every check that the course's own CI runs
  build        execute the notebooks and generate exercises/ from solutions/ (for maintainers)

The first call makes .venv and installs into it. --cpu takes the small build of torch, for the
processor alone: on Linux the usual one brings gigabytes for graphics cards."""

OLDEST = (3, 11)
CPU_INDEX = "https://download.pytorch.org/whl/cpu"

ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
STATE = os.path.join(VENV, "course.json")
LOG = os.path.join(VENV, "install.log")
SCRIPTS = os.path.join(VENV, "Scripts" if os.name == "nt" else "bin")
PACKAGES = os.path.join(
    glob.escape(VENV), "Lib" if os.name == "nt" else "lib/python*", "site-packages"
)
PYTHON = os.path.join(SCRIPTS, "python.exe" if os.name == "nt" else "python")

UNFINISHED = "unfinished"

# What pip's output, or an error of the operating system, means for a learner. First match wins.
TROUBLES = [
    (
        ("No space left on device", "not enough space on the disk", "Disk quota exceeded"),
        "The disk is full: make room for about 2 GB (with --cpu; several more without) and run "
        "the same command again.",
    ),
    (
        ("NewConnectionError", "name resolution", "getaddrinfo failed", "Network is unreachable"),
        "There is no network: the first call, and the first after an update, must download "
        "packages, so connect and run the same command again.",
    ),
    (
        ("ConnectTimeoutError", "ReadTimeoutError", "ProxyError", "Connection broken", "SSLError"),
        "The network let the download down: run the same command again, it goes on from what "
        "has arrived.",
    ),
    (
        ("No matching distribution found",),
        "A package has no build for Python {0}.{1} on this machine: run course.py with another "
        "Python, for example 3.12.".format(*sys.version_info),
    ),
    (
        ("Permission denied", "Access is denied", "Read-only file system"),
        "A file here may not be written: close JupyterLab if it is open, and keep the course in "
        "a folder of your own.",
    ),
]


class Sorry(Exception):
    """What is wrong, in one sentence for the learner."""


def explain(text):
    """Return one sentence on the trouble that ``text``, an output or an error, speaks of."""
    for signs, sentence in TROUBLES:
        if any(sign in text for sign in signs):
            return sentence
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines or ["no word"]
    return "The set-up stopped with: {0}  (all of it is in {1})".format(errors[-1], LOG)


def fingerprint():
    """Return a digest of all that .venv is made from, and of where it stands."""
    digest = hashlib.sha256(ROOT.encode("utf-8"))  # the course is installed by its path
    for name in ("requirements.txt", "pyproject.toml"):
        with open(os.path.join(ROOT, name), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def read_state():
    """Return what is written in .venv about how it was made; empty where nothing is."""
    try:
        with open(STATE) as file:
            state = json.load(file)
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def write_state(state):
    """Write it whole or not at all."""
    with open(STATE + ".new", "w") as file:
        json.dump(state, file)
    os.replace(STATE + ".new", STATE)


def environment():
    """Return the environment of an activated .venv, without what could lead its Python astray."""
    variables = dict(os.environ)
    for name in ("PYTHONHOME", "PYTHONPATH"):
        variables.pop(name, None)
    variables["VIRTUAL_ENV"] = VENV
    variables["PATH"] = SCRIPTS + os.pathsep + variables.get("PATH", "")
    return variables


def is_healthy():
    """Tell whether .venv has a Python that runs, is new enough and has pip."""
    probe = "import sys, pip; sys.exit(sys.version_info < {0})".format(OLDEST)
    try:
        command = [PYTHON, "-c", probe]
        quiet = subprocess.DEVNULL
        return subprocess.call(command, env=environment(), stdout=quiet, stderr=quiet) == 0
    except OSError:
        return False


def can_make_venv():
    """Tell whether this Python has all of venv; Debian and Ubuntu ship it without."""
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return False
    return True


def make_venv(unfinished):
    """Make .venv anew; it says ``unfinished`` until it is not."""
    if not can_make_venv():
        raise Sorry(
            "This Python came without its venv module: install it (on Debian and Ubuntu: "
            "sudo apt install python3-venv) and run the same command again."
        )
    print("Making .venv ...", flush=True)
    if os.path.lexists(VENV):
        shutil.rmtree(VENV)
    os.mkdir(VENV)
    write_state(unfinished)
    base = getattr(sys, "_base_executable", None) or sys.executable
    made = subprocess.run(
        [base, "-m", "venv", VENV], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if made.returncode != 0:
        raise Sorry(explain(made.stdout.decode("utf-8", "replace")))


class Progress(object):
    """One line that says what pip is at; on a terminal it is rewritten in place."""

    def __init__(self):
        self.started = time.time()
        self.found = 0
        self.to_unpack = 0
        self.doing = "asking for packages"
        self.shown = None
        self.live = sys.stdout.isatty()

    def note(self, line):
        """Learn from one line of pip's output."""
        words = line.split()
        if line.startswith("Collecting "):
            self.found += 1
            self.doing = "finding packages, {0} so far".format(self.found)
        elif words[:1] == ["Downloading"] and len(words) == 4:
            self.doing = "downloading " + words[1].split("-")[0] + " " + words[2] + " " + words[3]
        elif line.startswith("Installing collected packages"):
            self.to_unpack = len(words) - 3

    def stage(self):
        """Return in words what is being done now."""
        if not self.to_unpack:
            return self.doing
        unpacked = glob.glob(os.path.join(PACKAGES, "*.dist-info"))
        return "unpacking, {0} of {1} packages".format(
            min(len(unpacked), self.to_unpack), self.to_unpack
        )

    def show(self):
        """Print where things stand."""
        stage = self.stage()
        if not self.live:
            if stage.split()[0] != self.shown:
                print("Installing: " + stage, flush=True)
            self.shown = stage.split()[0]
            return
        minutes, seconds = divmod(int(time.time() - self.started), 60)
        text = "Installing {0}:{1:02d}  {2}".format(minutes, seconds, stage)
        width = shutil.get_terminal_size().columns - 1
        print("\r" + text[:width].ljust(width), end="", flush=True)

    def close(self):
        """Leave the line for good."""
        if self.live:
            print(flush=True)


def pip_install(arguments, progress):
    """Run ``pip install`` in .venv; raise Sorry where it fails."""
    command = [PYTHON, "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
    process = subprocess.Popen(
        command + ["--progress-bar", "off"] + arguments,
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    output = []

    def read():
        for line in iter(process.stdout.readline, b""):
            output.append(line.decode("utf-8", "replace"))
            progress.note(output[-1])

    reader = threading.Thread(target=read)
    reader.daemon = True
    reader.start()
    try:
        while reader.is_alive():
            progress.show()
            reader.join(0.5)
        failed = process.wait() != 0
    except BaseException:
        process.terminate()
        process.wait()
        raise
    try:
        with open(LOG, "w") as file:
            file.write("".join(output))
    except (OSError, ValueError):
        pass  # a full disk must not hide what pip said about it
    if failed:
        raise Sorry(explain("".join(output)))


def torch_pin():
    """Return the requirement of torch, as requirements.txt has it."""
    with open(os.path.join(ROOT, "requirements.txt")) as file:
        return next(line.strip() for line in file if line.startswith("torch=="))


def install(cpu):
    """Install requirements.txt, with torch from PyTorch's own index where ``cpu`` is asked for."""
    progress = Progress()
    try:
        if cpu:  # from that index torch alone; what it depends on comes with all the rest
            pip_install(["--no-deps", "--index-url", CPU_INDEX, torch_pin()], progress)
        pip_install(["-r", "requirements.txt"], progress)
    finally:
        progress.close()


def prepare(cpu):
    """Make .venv fit requirements.txt; do nothing where it does.

    .venv remembers whether its torch is the small one, so ``--cpu`` need be said only once. It says
    "unfinished" until all is in place: a call that was interrupted is seen by the next, which
    starts afresh from what was downloaded.
    """
    state = read_state()
    kind = "cpu" if cpu else state.get("torch", "default")
    wanted = {"made_from": fingerprint(), "torch": kind}
    healthy = is_healthy()
    if healthy and state == wanted:
        return
    unfinished = {"made_from": UNFINISHED, "torch": kind}
    interrupted = state.get("made_from") == UNFINISHED
    other_torch = "torch" in state and state["torch"] != kind
    if not healthy or interrupted or other_torch:
        make_venv(unfinished)
    else:
        write_state(unfinished)
    install(kind == "cpu")
    write_state(wanted)
    print("The course is installed.", flush=True)


def hand_over(arguments):
    """Run ``python -m utils`` with ``arguments`` in .venv and return its exit code."""
    command = [PYTHON, "-m", "utils"] + arguments
    os.chdir(ROOT)
    if os.name != "nt":
        os.execve(PYTHON, command, environment())  # signals go straight to it
    process = subprocess.Popen(command, env=environment())
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            pass  # it got the same Ctrl-C, and decides


def main(arguments):
    """Do what the command line asks for and return the exit code."""
    if sys.version_info < OLDEST:
        version = ".".join(str(number) for number in sys.version_info[:3])
        sys.stderr.write(
            "This course needs Python 3.11 or newer, and this is Python {0} ({1}): run course.py "
            "with a newer one.\n".format(version, sys.executable)
        )
        return 1
    cpu = "--cpu" in arguments
    arguments = [argument for argument in arguments if argument != "--cpu"]
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(USAGE)
        return 0
    try:
        prepare(cpu)
        return hand_over(arguments)
    except Sorry as sorry:
        sys.stderr.write("{0}\n".format(sorry))
        return 1
    except OSError as error:
        sys.stderr.write("{0}\n".format(explain(str(error))))
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\nStopped half-way: the same command goes on from here.\n")
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
