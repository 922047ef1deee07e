"""A digest of what a scenario says: the same for other comments, other orders of keys, other spellings of a quantity."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, cast

from pydantic import BaseModel


def digest_of(part: BaseModel, files: Mapping[str, str]) -> str:
    """SHA-256 of a scenario and of the files that it points to.

    Args:
        part: the scenario as read. Values that equal their default count as left out.
        files: digests of other files by the name that the scenario gives them.
    """
    text = json.dumps([_plain(part), dict(files)], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON values
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        return {name: _plain(item) for name, item in value if item != fields[name].default}
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        items = [_plain(item) for item in cast("tuple[Any, ...]", value)]
        return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))
    # 12 digits: "99.9 %" and 0.999 are the same share, though not the same float.
    return float(f"{value:.12g}") if isinstance(value, float) else value
