"""The section `fallback` of the configuration: where incidents go that Slack can't show."""

from typing import Annotated

from pydantic import Field, model_validator

from tailhound.settings_forms import Address
from tailhound.settings_headers import Headers
from tailhound.settings_secrets import Secret, Section


class Webhook(Section):
    """The second way out: an address that takes incidents as JSON while Slack can't show them.

    `url_from` instead of `url` where the address itself is a secret. Neither = there is none. It is
    used when Slack refuses for good, or has not got through for `after_seconds`.
    """

    url: Address = ""
    url_from: Secret | None = None
    bearer: Secret | None = None
    headers: Headers = Field(default={})
    ca_file: str = ""
    after_seconds: Annotated[float, Field(ge=0, le=3600)] = 60.0
    timeout_seconds: Annotated[float, Field(gt=0, le=20)] = 10.0

    @model_validator(mode="after")
    def _has_one_address(self) -> "Webhook":
        if self.url and self.url_from is not None:
            raise ValueError("give url or url_from, not both")
        return self

    @property
    def configured(self) -> bool:
        """Whether there is such an address."""
        return bool(self.url) or self.url_from is not None


class Fallback(Section):
    """Where incidents go that Slack can't show."""

    webhook: Webhook = Webhook()
