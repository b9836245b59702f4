"""typing.NamedTuple's bare necessities, for what the pre-commit hook and a no-op apply import.

`typing` and the code that collections.namedtuple compiles for each class take a fifth of the hook's CPU.
Type checkers see typing.NamedTuple itself; at run time a class here is a tuple with properties,
`_fields`, `_asdict` and `_replace`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple
else:
    from operator import itemgetter

    class _Fields(type):
        """Turns the annotations of a class body into fields."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if bases:
                fields = tuple(body.get("__annotations__", ()))
                body["_fields"] = fields
                body["_field_defaults"] = {field: body[field] for field in fields if field in body}
                body["__slots__"] = ()
                body.update({field: property(itemgetter(at)) for at, field in enumerate(fields)})
            return super().__new__(cls, name, bases, body)

    class NamedTuple(tuple, metaclass=_Fields):
        """Base class; see the module."""

        __slots__ = ()

        def __new__(cls, *values: Any, **named: Any) -> NamedTuple:
            fields = cls._fields
            if not named and len(values) == len(fields):
                return tuple.__new__(cls, values)  # a queue makes thousands
            given = {**cls._field_defaults, **dict(zip(fields, values, strict=False)), **named}
            if len(values) > len(fields) or given.keys() != set(fields):
                raise TypeError(f"{cls.__name__} takes {', '.join(fields)}, not {len(values)}, {[*named]}")
            return tuple.__new__(cls, [given[field] for field in fields])

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def _replace(self, **changes: Any) -> NamedTuple:
            return type(self)(**{**self._asdict(), **changes})

        def __repr__(self) -> str:
            fields = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({fields})"


__all__ = ["NamedTuple"]
