"""Drawing a payload on a page beside the panel's files, with actions that note their calls."""

from typing import Any

LOAD = """async ([payload, actions]) => {
  const { render } = await import('./render.js');
  window.calls = [];
  const noted = Object.fromEntries(actions.map((name) => [name, (...given) => window.calls.push([name, ...given])]));
  render(document.getElementById('panel'), payload, noted);
}"""
EVERY = ["decide", "undo"]
MARKING = ["mark", "unmark", "sendBack", "next", "back"]
REVIEWING = [*EVERY, "accept", "agree", "disagree", "uncount", "count", *MARKING, "region"]
LISTEN = "async () => { (await import('./keys.js')).listen(document.getElementById('panel'), document); }"


def show(page: Any, payload: dict[str, Any], actions: list[str] = EVERY) -> None:
    page.evaluate(LOAD, [payload, actions])


def calls(page: Any) -> Any:
    return page.evaluate("window.calls")
