"""Objects that stand for arguments nobody gives: plain ones, which pickle, compare and copy as other objects do."""

from __future__ import annotations

from typing import Any, Dict, Iterator

SCALAR = (int, float, str, bytes, type(None))
"""Arguments that are no sample: what is called with nothing else looks something up."""


class Identity:
    """A transform that changes nothing."""

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Return what is to be transformed: the first argument, or all of the keywords."""
        return arguments[0] if arguments else keywords


class Made:
    """An object with the attributes and the items that were asked for; called, it changes nothing."""

    def __init__(self, attributes: Dict[str, Any], items: Dict[Any, Any], length: int) -> None:
        self.__dict__.update(attributes)
        self.__dict__["_forklint_items"] = items
        self.__dict__["_forklint_length"] = length

    def __getitem__(self, key: Any) -> Any:
        items = self.__dict__["_forklint_items"]
        if isinstance(key, int) and key not in items and None in items and 0 <= key < len(self):
            return items[None]
        return items[key]

    def get(self, key: Any, default: Any = None) -> Any:
        """As a dict's."""
        return self.__dict__["_forklint_items"].get(key, default)

    def __contains__(self, key: Any) -> bool:
        return key in self.__dict__["_forklint_items"] or key in self.__dict__

    def __iter__(self) -> Iterator[Any]:
        return iter([self[index] for index in range(len(self))])

    def __len__(self) -> int:
        return int(self.__dict__["_forklint_length"])

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Return what it is given, as a transform that changes nothing; asked by a number or a name, what that gave."""
        returned = self.__dict__.get("_forklint_returned")
        if returned is not None and all(isinstance(one, SCALAR) for one in arguments):
            return returned[0]
        return Identity()(*arguments, **keywords)

    def __reduce__(self) -> Any:
        return (_made, (self.__dict__,))


def _made(state: Dict[str, Any]) -> Made:
    made = Made.__new__(Made)
    made.__dict__.update(state)
    return made
