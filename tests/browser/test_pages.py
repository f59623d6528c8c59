"""Every page of the side bar, in every look: nothing is out of reach, too wide or broken."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import Plane
from tests.browser.visitor import LOOKS, Look, Visitor, visiting

# Those with forms of their own: what is chosen, typed and ticked has a name.
FORMS = (
    *("tool", "toolset", "prompt", "resource", "apiservice", "upstreamserver", "pipelineconfig"),
    *("corpus", "apiclient", "serviceconfiguration", "registeredservice", "questionset"),
)
# Those of other applications, and what the menu of the person leads to.
MORE = (
    *("/admin/auth/user/add/", "/admin/health/healthwebhook/add/"),
    *("/admin/health/servicelevelobjective/add/", "/admin/password_change/"),
)


LIGHT_WIDE, LIGHT_NARROW, DARK_WIDE, DARK_NARROW = LOOKS


def named(look: Look) -> str:
    return f"{look.scheme}-{look.width}"


@pytest.mark.parametrize(
    "look",
    [
        LIGHT_WIDE,
        DARK_NARROW,
        # Each is a colour and a width of those above.
        pytest.param(LIGHT_NARROW, marks=pytest.mark.soak),
        pytest.param(DARK_WIDE, marks=pytest.mark.soak),
    ],
    ids=named,
)
def test_pages_can_be_used_by_everybody(plane: Plane, browser: Browser, look: Look) -> None:
    with visiting(browser, plane.url, look) as visitor:
        visitor.log_in(plane.password)
        rows = []
        for path in pages(visitor):
            page = visitor.go(path)
            visitor.check()
            first = page.locator("#result_list a[href*='/change/']")
            if first.count():
                rows.append(urljoin(path, first.first.get_attribute("href") or ""))
        assert len(rows) > 8
        # One row of each list: what can be read there, and changed.
        for row in rows:
            visitor.go(urlsplit(row).path)
            visitor.check()


def pages(visitor: Visitor) -> list[str]:
    """What the side bar leads to, and the forms for something new."""
    links = visitor.page.eval_on_selector_all(
        "aside a, nav a", "found => found.map((one) => one.getAttribute('href') || '')"
    )
    listed = sorted({link for link in links if link.startswith("/admin/") and "logout" not in link})
    assert len(listed) > 25
    forms = [f"/admin/tools/{name}/add/" for name in FORMS]
    return [*listed, *(form for form in forms if form.removesuffix("add/") in listed), *MORE]
