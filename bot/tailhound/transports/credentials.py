"""What tells an HTTP API who we are."""

import base64

from tailhound.settings import Basic, Secret


def credentials(bearer: Secret | None, basic: Basic | None = None) -> dict[str, str]:
    """The header that says who we are; {} without one. SettingsError when it can't be read.

    Ask for each request, so that a rotated secret is used at once.
    """
    if bearer is not None:
        return {"Authorization": f"Bearer {bearer.token()}"}
    if basic is None:
        return {}
    pair = f"{basic.username}:{basic.password.read()}"
    return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
