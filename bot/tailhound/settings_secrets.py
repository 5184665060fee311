"""Sections of the configuration, and secrets in them: where a secret lies, never the secret."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, PrivateAttr, model_validator

from tailhound.errors import SettingsError
from tailhound.settings_places import Loc


class Section(BaseModel):
    """Unknown keys are refused: a typo must not look like a default."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Secret(Section):
    """Where a secret lies. Exactly one of the two is set; the value is read when it is used."""

    env: str = ""
    file: str = ""
    _where: str = PrivateAttr("")

    @model_validator(mode="before")
    @classmethod
    def _refers(cls, value: Any) -> Any:
        if isinstance(value, dict | Secret):
            return value
        raise ValueError("a secret never stands here: write {env: NAME} or {file: PATH}")

    @model_validator(mode="after")
    def _one_of_two(self) -> "Secret":
        if bool(self.env) == bool(self.file):
            raise ValueError("give either env: NAME or file: PATH")
        return self

    def read(self) -> str:
        """The secret, stripped; SettingsError says which key wants it when it is not there."""
        if self.env:
            if self.env not in os.environ:
                what = f"the environment variable {self.env} is not set"
                raise SettingsError(f"{self._where}{what}")
            return os.environ[self.env].strip()
        try:
            return Path(self.file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "is not UTF-8 text"
            what = f"can't read the secret file {self.file}: {why}"
            raise SettingsError(f"{self._where}{what}") from error

    def token(self) -> str:
        """The secret, to be sent in a header: one line of plain characters, or SettingsError.

        What refuses a header in the end puts it into its error, and so into logs and pages.
        """
        text = self.read()
        if not (text.isascii() and text.isprintable()):
            what = f"{self.env or self.file} holds more than one line of plain characters"
            raise SettingsError(f"{self._where}{what}")
        return text


def secrets(value: Any, loc: Loc) -> Iterator[tuple[Loc, Secret]]:
    """Each secret below a value, with its key."""
    if isinstance(value, Secret):
        yield loc, value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from secrets(getattr(value, name), (*loc, name))
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from secrets(inner, (*loc, name))
    elif isinstance(value, tuple):
        for index, inner in enumerate(value):
            yield from secrets(inner, (*loc, index))
