"""Stand-ins for objects of which it is known what they keep of their arguments (see ``known``)."""

from __future__ import annotations

from typing import Any, Dict

from forklint_harness.tolerance import known
from forklint_harness.tolerance.stand_ins import StandIn


class Keeper(StandIn):
    """Stands in for an object of which it is known what it keeps of its arguments: that is pickled with it.

    It was made by the call ``made_by``; ``_forklint_kept`` holds the arguments by attribute.
    """

    def __init__(self, made_by: str, kept: Dict[str, Any]) -> None:
        super().__init__(made_by + "()")
        self.__dict__.update(_forklint_made_by=made_by, _forklint_kept=kept)
        self.__dict__.update((name, value) for name, value in kept.items() if not name.startswith("_"))

    def __getattr__(self, name: str) -> Any:
        """A method by which a stream comes to hold more, or a part as any stand-in has them."""
        is_method = not name.startswith("_") and known.effect(self.__dict__["_forklint_made_by"], name)
        return Method(self, name) if is_method else super().__getattr__(name)

    def __reduce__(self) -> Any:
        return Keeper, (self.__dict__["_forklint_made_by"], self.__dict__["_forklint_kept"])


class Method(StandIn):
    """A method of a stream."""

    def __init__(self, stream: Keeper, name: str) -> None:
        super().__init__("{}.{}".format(stream.__dict__["_forklint_name"], name))
        self.__dict__.update(_forklint_stream=stream, _forklint_method=name)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Give the stream, or one that holds the arguments, too."""
        stream, name = self.__dict__["_forklint_stream"], self.__dict__["_forklint_method"]
        made_by, held = stream.__dict__["_forklint_made_by"], stream.__dict__["_forklint_kept"]
        given = {"_{}_{}".format(name, len(held) + place): one for place, one in enumerate(arguments)}
        given.update(("_{}_{}".format(name, key), one) for key, one in keywords.items())
        effect = known.effect(made_by, name)
        if effect == "sets":
            held.update(given)
        return Keeper(made_by, dict(held, **given)) if effect == "adds" else stream
