"""Check commit messages: an imperative subject of at most 72 characters, an empty line, then the reason.

git config core.hooksPath .ci/hooks      # once: git then checks each message (.ci/hooks/commit-msg)
python3 .ci/commit_message.py FILE       # checks the message in a file
python3 .ci/commit_message.py --since COMMIT
"""

import re
import subprocess
import sys
from pathlib import Path

LONGEST_SUBJECT = 72
GENERATED = re.compile(
    r"Merge (branch(es)?|commit|pull request|remote-tracking branch|tag) ['#]|(Revert|fixup!|squash!) "
)
NOT_A_VERB = re.compile(
    r"(A|An|The|This|That|These|Those|What|How|When|Where|Why|Which|Who|All|Some|Any|No|Not|Each|Every|It|Its|There|"
    r"Their|One|Two|Three|More|Most|Other|Both|Only|With|Without|After|Before|In|On|Of|For|From|By|At|As|If|And|But)"
)
INFLECTED = re.compile(r"[A-Z][a-z]+(ing|[^e]ed|[^s]s)")
BASE_FORMS = {"Bring", "Embed", "Bias", "Canvas", "Focus", "Ping", "Seed", "Speed", "String", "Alias", "Feed", "Need"}


def problems(message):
    """Sentences about a commit message; none if it is fine."""
    lines = [line.rstrip() for line in message.splitlines() if not line.startswith("#")]
    while lines and not lines[0]:
        lines.pop(0)
    subject = lines[0] if lines else ""
    if not subject:
        return ["The message is empty."]
    if GENERATED.match(subject):
        return []
    result = []
    if len(subject) > LONGEST_SUBJECT:
        result.append(f"The subject has {len(subject)} characters: at most {LONGEST_SUBJECT}.")
    word = re.split(r"[^\w-]", subject, maxsplit=1)[0]
    is_verb = word[:1].isupper() and not NOT_A_VERB.fullmatch(word)
    if not is_verb or (INFLECTED.fullmatch(word) and word not in BASE_FORMS):
        result.append(f"The subject begins with {word!r}: begin with an imperative, such as Add, Drop or Fix.")
    if subject.endswith("."):
        result.append("The subject ends with a period: leave it out.")
    if len(lines) > 1 and lines[1]:
        result.append("The line after the subject must be empty: the reason follows it.")
    return result


def messages_since(commit):
    """(abbreviated hash, message) of the commits after a commit; none without git or without that commit."""
    root = Path(__file__).resolve().parent.parent
    command = ["git", "-C", str(root), "log", "--no-merges", "--format=%h%n%B%x00", f"{commit}..HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return []
    return [tuple(text.strip().split("\n", 1)) for text in done.stdout.split("\0") if text.strip()]


def main(arguments):
    """Run the command; its exit status."""
    if len(arguments) == 2 and arguments[0] == "--since":
        messages = messages_since(arguments[1])
    elif len(arguments) == 1:
        messages = [(arguments[0], Path(arguments[0]).read_text(encoding="utf-8"))]
    else:
        print(__doc__)
        return 2
    found_problems = [f"{name}: {problem}" for name, message in messages for problem in problems(message)]
    print(*found_problems, sep="\n", end="\n" if found_problems else "")
    return 1 if found_problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
