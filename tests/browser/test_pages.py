"""Every page of the side bar, in every look: nothing is out of reach, too wide or broken."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

from tests.browser.visitor import Visitor

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


def test_pages_can_be_used_by_everybody(operator: Visitor) -> None:
    rows = []
    for path in pages(operator):
        page = operator.go(path)
        operator.check_in_every_look()
        first = page.locator("#result_list a[href*='/change/']")
        if first.count():
            rows.append(urljoin(path, first.first.get_attribute("href") or ""))
    assert len(rows) > 8
    # One row of each list: what can be read there, and changed.
    for row in rows:
        operator.go(urlsplit(row).path)
        operator.check_in_every_look()


def pages(visitor: Visitor) -> list[str]:
    """What the side bar leads to, and the forms for something new."""
    links = visitor.page.eval_on_selector_all(
        "aside a, nav a", "found => found.map((one) => one.getAttribute('href') || '')"
    )
    listed = sorted({link for link in links if link.startswith("/admin/") and "logout" not in link})
    assert len(listed) > 25
    forms = [f"/admin/tools/{name}/add/" for name in FORMS]
    return [*listed, *(form for form in forms if form.removesuffix("add/") in listed), *MORE]
