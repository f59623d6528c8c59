"""A list without rows says whether nothing is there or nothing matches, and what would be there."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from tests.factories import make_corpus
from tests.tools.admin.pages import text
from tests.tools.admin.test_dead_ends import somebody

pytestmark = pytest.mark.django_db

# Of the lists in the side bar, these are empty after a first start.
FIRST = (
    *("health_statuschange", "health_webhookdelivery", "health_healthwebhook"),
    *("tools_questionset", "tools_registeredservice", "tools_evaluationrun", "axes_accessattempt"),
)


@pytest.mark.parametrize("name", FIRST)
def test_an_empty_list_says_what_comes_there(admin_client: Client, name: str) -> None:
    page = text(admin_client.get(reverse(f"admin:{name}_changelist")))
    (told,) = (
        vars(type(one))["what_comes_here"]
        for model, one in admin.site._registry.items()
        if f"{model._meta.app_label}_{model._meta.model_name}" == name
    )
    assert told
    assert told in page
    assert " yet</h2>" in page
    # There is nothing to be reset.
    assert "Show all" not in page


def test_a_search_that_finds_nothing_leads_back_to_all_rows(admin_client: Client) -> None:
    make_corpus(slug="handbook")
    page = text(admin_client.get(reverse("admin:tools_corpus_changelist"), {"q": "nowhere"}))
    assert "Nothing matches" in page
    assert '<a href="?"' in page


def test_a_way_to_a_first_row_is_shown_to_those_alone_who_may_take_it(
    admin_client: Client, client: Client
) -> None:
    way = reverse("admin:tools_registeredservice_add")
    assert way in text(admin_client.get(reverse("admin:tools_registeredservice_changelist")))
    viewer = somebody(client, "Viewer")
    assert way not in text(viewer.get(reverse("admin:tools_registeredservice_changelist")))
