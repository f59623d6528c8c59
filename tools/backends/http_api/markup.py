"""XML as plain objects, and web pages as title, headings, text and links."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urljoin
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from tools.backends.http_api.unreadable import Unreadable
from tools.pipelines.reading import BlockKind, UnreadableDocument
from tools.pipelines.reading.document import one_line
from tools.pipelines.reading.encodings import decode_html
from tools.pipelines.reading.html import read_html, visible_text

DEEPEST: Final = 100
MOST_LINKS: Final = 200
_ANCHOR: Final = re.compile(r"<a\s[^<>]{0,4000}>", re.I)
_HREF: Final = re.compile(r"""\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.I)
_LONGEST_LABEL: Final = 300


def read_xml(body: bytes) -> Any:
    """The document as an object by the name of its root.

    Attributes are keys with `@`, text beside others is `#text`, repeated elements are lists, namespaces
    are left out. Entities are refused: they can make a small document endless, or read files.

    Raises:
        Unreadable: it is not XML, nested too deep, or defines entities.
    """
    try:
        root = fromstring(body)
    except DefusedXmlException:
        raise Unreadable("it is XML that defines entities, which are not expanded") from None
    except (ParseError, ValueError, LookupError):
        raise Unreadable("it says that it is XML, but is not") from None
    return {_name(root.tag): _element(root, DEEPEST)}


def _name(tag: str) -> str:
    return tag.rpartition("}")[2]


def _element(element: Element, depth: int) -> Any:
    if not depth:
        raise Unreadable(f"it is XML nested more than {DEEPEST} deep")
    found: dict[str, Any] = {f"@{_name(key)}": value for key, value in element.attrib.items()}
    texts = [element.text or ""]
    repeated: set[str] = set()
    for child in element:
        name, value = _name(child.tag), _element(child, depth - 1)
        texts.append(child.tail or "")
        if name in repeated:
            found[name].append(value)
        elif name in found:
            found[name] = [found[name], value]
            repeated.add(name)
        else:
            found[name] = value
    text = " ".join(part.strip() for part in texts if part.strip())
    if not found:
        return text or None
    return {**found, "#text": text} if text else found


def read_page(body: bytes, address: str) -> Mapping[str, Any]:
    """What a reader of the page sees. Links are made whole with `address`, where it is known.

    Raises:
        Unreadable: its elements are nested beyond all reason.
    """
    try:
        page = read_html(body)
    except UnreadableDocument:
        raise Unreadable("it is a web page whose elements are nested too deep") from None
    headings = [
        {"level": len(block.heading_path), "text": block.text}
        for block in page.blocks
        if block.kind is BlockKind.HEADING
    ]
    found = {
        "title": page.title,
        "headings": headings,
        "text": "\n\n".join(block.text for block in page.blocks),
        "links": _links(decode_html(body), address),
    }
    return {**found, "notes": list(page.notes)} if page.notes else found


def _links(markup: str, address: str) -> list[dict[str, str]]:
    links: dict[str, str] = {}
    for anchor in _ANCHOR.finditer(markup):
        href = _HREF.search(anchor[0])
        written = visible_text(next((part for part in href.groups() if part), "")) if href else ""
        if not written or written.startswith("#") or written[:11].lower() == "javascript:":
            continue
        whole = _whole(written.strip(), address)
        # Up to its end tag; what follows a missing one is cut off.
        label = markup[anchor.end() : anchor.end() + 2000].partition("</a")[0]
        links.setdefault(whole, one_line(visible_text(label))[:_LONGEST_LABEL])
        if len(links) == MOST_LINKS:
            break
    return [{"text": text, "url": url} for url, text in links.items()]


def _whole(written: str, address: str) -> str:
    try:
        return urljoin(address, written) if address else written
    except ValueError:
        return written
