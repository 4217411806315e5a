#!/usr/bin/env python3
"""The documents' commands, run as they stand against the bundled emulators.

    test/documents/commands_test.py BUILD [PAGE]... [--verbose]   (BUILD: build/dev, or another directory with bin and adapters)
    test/documents/commands_test.py --accounted    (each block is run, or stands on a list with the reason)
    test/documents/commands_test.py --pages        (whose commands are run)
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import document  # noqa: E402
import terminal  # noqa: E402
from pages import ELSEWHERE, NOT_RUN, PAGES  # noqa: E402
from setting import CLIENT, PASSPHRASE, SECRET, TOKEN, Setting  # noqa: E402

SECONDS = 120
MARK = "==== "
LANGUAGES = {"sh", "text", "yaml", "json", "python", "cpp", "cmake"}


def not_run(block):
    return next((key for key in NOT_RUN if key[0] == block.page and block.text.startswith(key[1])), None)


def accounted_for():
    """Each block of commands is run or stands on a list with its reason, and each entry of the lists is of use."""
    used, problems = set(), []
    for page in document.pages():
        if page in ELSEWHERE or page.startswith("docs/adr/") or page == "CHANGELOG.md":
            continue
        for block in document.parts(page)[0]:
            if block.language not in LANGUAGES:
                problems.append(f"{block}: a block says what it is (```sh: commands that are run; ```text: anything else)")
            elif block.language == "sh" and not_run(block):
                used.add(not_run(block))
            elif block.language == "sh" and page not in PAGES:
                problems.append(f"{block}: test/documents/pages.py says neither how it is run nor why it is not")
    problems += [f"pages.py: there is no block {key}" for key in NOT_RUN if key not in used]
    known = set(document.pages())
    problems += [f"pages.py: there is no page {page}" for page in [*PAGES, *ELSEWHERE] if page not in known]
    return problems


def script_of(page, how, setting):
    """One shell for the whole page: each block in its own file, so that what a page leaves to its reader can be filled in last."""
    lines = ["set -e -o pipefail", how.before]
    for number, block in enumerate(b for b in document.parts(page)[0] if b.language == "sh" and not not_run(b)):
        text = block.text.replace("--client-id ID", f"--client-id {CLIENT}").replace("127.0.0.1:7700", f"127.0.0.1:{setting.gateway}")
        for port, free in ((9009, setting.spare), (9010, setting.other)):
            text = text.replace(f"--port {port}", f"--port {free}").replace(f"127.0.0.1:{port}", f"127.0.0.1:{free}")
        file = setting.directory / f"block-{number}.sh"
        file.write_text(text)
        lines.append(f"echo '{MARK}{block}'")
        edits = []
        for word, value in how.words.items():
            if re.search(rf"\b{word}\b", text):
                lines.append(f'_{word}="{value}"')
                edits.append(rf'-e "s|\b{word}\b|$_{word}|g"')
        lines.append(f"source <(sed {' '.join(edits)} '{file}')" if edits else f"source '{file}'")
    lines += [how.after, f"echo '{MARK}done'"]
    path = setting.directory / "page.sh"
    path.write_text("\n".join(lines) + "\n")
    return path


def problem_of(page, build):
    how = PAGES[page]
    with Setting(build, how.begins) as setting:
        if how.policy:
            (setting.tree / "policies" / "slack.yaml").write_text(how.policy)
            setting.reload()
        for capability, arguments in how.calls:
            setting.invoke(capability, **arguments)
        words = {"PASSPHRASE": PASSPHRASE, "TOKEN": TOKEN, "SECRET": SECRET}
        code, shown = terminal.run(script_of(page, how, setting), setting.environment, setting.tree, words, SECONDS)
    if "--verbose" in sys.argv:
        print(shown)
    if code == 0 and shown.rstrip().endswith(MARK + "done"):
        return ""
    at = re.findall(rf"^{MARK}(.*)$", shown, re.MULTILINE)
    return f"{at[-1] if at else page}: it ended with {code}:\n" + "\n".join(shown.rstrip().splitlines()[-25:])


def main():
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    if "--pages" in sys.argv:
        sys.exit(print("\n".join(PAGES)))
    problems = []
    if "--accounted" in sys.argv:
        problems = accounted_for()
    else:
        build, *wanted = arguments or sys.exit(__doc__)
        for page in wanted or PAGES:
            problem = problem_of(page, pathlib.Path(build).resolve())
            print(f"{'FAILED' if problem else 'ok':6} {page}", flush=True)
            problems += [problem] if problem else []
    print("\n".join(problems) or "Nothing is amiss.")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
