"""The form of a webhook: its signing secret goes in and never comes out."""

from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminPasswordWidget

from health.models import HealthWebhook
from health.webhooks.signing import new_secret, secret_faults
from tools.admin.guarded_form import GuardedForm
from tools.admin.kept_secrets import same_origin


class HealthWebhookForm(GuardedForm):
    """A webhook. Where it needs a secret and none is given one is made, which the next page shows once."""

    also_written = ("secret",)

    new_secret = forms.CharField(
        label="Signing secret",
        required=False,
        strip=True,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"}),
        help_text="whsec_ and Base64, as the receiver has it. Kept encrypted and never shown again. "
        "Empty: what is stored stays; for a new webhook, and for one that moves to another scheme, host "
        "or port, one is made and shown once.",
    )

    class Meta:
        model = HealthWebhook
        fields = ("name", "url", "enabled", "changes", "allowed_networks")

    # The secret that was made for this webhook, if one was.
    made: str = ""

    def clean_new_secret(self) -> str:
        """Raises ValidationError, without a word of what was typed."""
        given: str = self.cleaned_data["new_secret"]
        if given and (faults := secret_faults(given)):
            raise ValidationError(faults)
        return given

    def _post_clean(self) -> None:
        """The secret first: no webhook is without one.

        Another receiver is not to get what the one before would take for an event of ours.
        """
        given = self.cleaned_data.get("new_secret", "")
        url = self.cleaned_data.get("url", self.instance.url)
        if not given and not (self.instance.secret and same_origin(self.instance.url, url)):
            given = self.made = new_secret()
        if given:
            self.instance.set_secret(given)
        super()._post_clean()  # type: ignore[misc]
