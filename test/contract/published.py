"""What the tests against services' published descriptions share: finding the description, starting an emulator, telling
what was found."""
import argparse
import json
import os
import subprocess
import urllib.request

SKIPPED = 77


def find_description(name, directory):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for candidate in (directory, os.environ.get("KRUXOS_SPECS_DIR"), os.path.join(root, "..", "shared", "specs")):
        if candidate and os.path.isfile(os.path.join(candidate, name)):
            return os.path.join(candidate, name)
    return None


def fits_type(kind, value):
    """Whether a value has a type of JSON Schema."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return {
        "null": value is None, "boolean": isinstance(value, bool), "string": isinstance(value, str),
        "integer": number and isinstance(value, int), "number": number,
        "array": isinstance(value, list), "object": isinstance(value, dict),
    }[kind]


class EmulatorProcess:
    """An emulator on a driven clock, and its control plane; a context manager."""

    def __init__(self, program, tokens):
        command = [program, "--port", "0", "--clock", "driven", "--die-with-parent"]
        for token in tokens:
            command += ["--token", token]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.base = self.process.stdout.readline().split()[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def control(self, what, document=None):
        data = None if document is None else json.dumps(document).encode()
        with urllib.request.urlopen(f"{self.base}/_emulator/{what}", data) as answer:
            return json.load(answer)


def run(about, spec_file, open_description, check_this_check, check_emulator):
    """The command line of such a test. `check_emulator` is called with the description and the program; every check
    answers sentences. Returns the exit status."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--emulator", help="the emulator's program")
    parser.add_argument("--log", help="a file with what GET /_emulator/log answered")
    parser.add_argument("--specs", help="the directory of " + spec_file)
    options = parser.parse_args()
    path = find_description(spec_file, options.specs)
    if path is None:
        print(f"skipped: {spec_file} is not here (set KRUXOS_SPECS_DIR to its directory)")
        return SKIPPED
    with open(path, encoding="utf-8") as file:
        description = open_description(json.load(file))
    found = check_this_check(description)
    if options.emulator:
        found += check_emulator(description, options.emulator)
    if options.log:
        with open(options.log, encoding="utf-8") as file:
            log = json.load(file)
        found += [m for request in log["requests"] for m in description.request_mismatches(request)]
        print(f"{len(log['requests'])} requests checked")
    for sentence in dict.fromkeys(found):
        print(sentence)
    print("agrees with the description" if not found else f"{len(set(found))} disagreements with the description")
    return 1 if found else 0
