"""The panel's files, and inserting and removing its snippet in a label config, with all other bytes unchanged."""

import re
from functools import cache
from html import escape
from pathlib import Path
from xml.sax.saxutils import quoteattr

from softirr.errors import InputError

CLASS = "softirr-agreement"
# Comments and CDATA may hold anything that looks like a tag.
_TOKEN = re.compile(
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>"
    r"|<(?P<end>/?)(?P<name>[A-Za-z][\w.-]*)(?P<rest>(?:\"[^\"]*\"|'[^']*'|[^>\"'])*)>",
    re.S,
)
_OURS = re.compile(
    rf"(?:\n[ \t]*)?<View className=\"{CLASS}\">.*?<!-- /{CLASS} --></View>",
    re.S,
)


def plugin_dir() -> Path:
    """Folder of the files for browsers: in the installed package, or next to it in a checkout."""
    packaged = Path(__file__).parents[1] / "plugin"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "plugin"


SCHEME = (
    # the helper shows it once the panel has something for the person
    f".{CLASS}{{display:none}}"
    f".{CLASS} iframe{{color-scheme:light}}[data-color-scheme=dark] .{CLASS} iframe{{color-scheme:dark}}"
    # Label Studio's own box around it stays white in its dark mode
    f"[data-color-scheme=dark] .{CLASS} :not(iframe){{background:transparent!important;color:inherit!important}}"
    # Compare All draws the form once for each annotation; the panel is shown in the first column
    f".lsf-wrapper_viewAll :has(.{CLASS})~* .{CLASS}{{display:none!important}}"
)


@cache
def helper() -> str:
    """The script of the panel's hidden frame (``plugin/panel/helper.js``), in one line."""
    source = (plugin_dir() / "panel" / "helper.js").read_text(encoding="utf-8")
    return " ".join(re.sub(r"/\*.*?\*/", "", source, flags=re.S).split())


def snippet(panel_url: str) -> str:
    """The element that shows the panel, in one line because an indented line of Markdown is a code block.

    The referrer policy lets the panel know which task is open. The style passes Label Studio's light or dark mode to
    the frame: a page in a frame gets the color scheme of the frame element, also across origins. The second frame has
    the panel's `helper`.
    """
    frame = (
        f"<style>{SCHEME}</style>"
        f'<iframe src={quoteattr(panel_url)} referrerpolicy="unsafe-url" title="Agreement" '
        f'style="width:100%;border:0"></iframe>'
        f'<iframe hidden title="Agreement helper" srcdoc="{escape(f"<script>{helper()}</script>")}"></iframe>'
    )
    if "]]>" in frame:
        raise InputError("The panel's address can't be part of a label config.")
    return f'<View className="{CLASS}"><Markdown><![CDATA[{frame}]]></Markdown><!-- /{CLASS} --></View>'


def insert(label_config: str, panel_url: str) -> str:
    """`label_config` with the panel as the last element; an older snippet is replaced in its position.

    Raises
    ------
    InputError
        If the config has no root element.
    """
    new_snippet = snippet(panel_url)
    if _OURS.search(label_config):
        first = True

        def replace(match: re.Match[str]) -> str:
            nonlocal first
            opening = match.group(0)[: match.group(0).index("<View")] + new_snippet if first else ""
            first = False
            return opening

        changed = _OURS.sub(replace, label_config)
    else:
        position = _end_of_root(label_config)
        changed = f"{label_config[:position]}\n{new_snippet}{label_config[position:]}"
    if remove(changed) != remove(label_config) or not _is_xml(changed):
        raise InputError("The panel can't be put into this label config; add plugin/snippet.xml by hand.")
    return changed


def remove(label_config: str) -> str:
    """`label_config` without our snippet."""
    return _OURS.sub("", label_config)


def present(label_config: str, panel_url: str | None = None) -> bool:
    """Whether the label config has our snippet (with this address)."""
    match = _OURS.search(label_config)
    return match is not None and (panel_url is None or snippet(panel_url) in match.group(0))


def _end_of_root(label_config: str) -> int:
    """Index of the root element's end tag."""
    depth, position = 0, None
    for token in _TOKEN.finditer(label_config):
        if token["name"] is None:
            continue
        if token["end"]:
            depth -= 1
            if depth == 0:
                position = token.start()
        elif not token["rest"].rstrip().endswith("/"):
            depth += 1
    if depth != 0 or position is None:
        raise InputError("The label config has no root element that the panel could be put into.")
    return position


def _is_xml(text: str) -> bool:
    from lxml import etree

    try:
        etree.fromstring(text.encode("utf-8", "replace"), etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return False
    return True
