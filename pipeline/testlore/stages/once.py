"""Functions and methods whose work is done at most once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import methodcaller
from typing import Any, Generic, TypeVar, overload

from testlore.errors import Fallback, Unusable

_T = TypeVar("_T")


class Once(Generic[_T]):
    """A function that does its work at the first call. Later calls return the same value or raise the same exception.

    Args:
        work: may raise ``Fallback`` or ``Unusable``.
    """

    def __init__(self, work: Callable[[], _T]) -> None:
        self._work: Callable[[], _T] | None = work
        self._failure: Fallback | Unusable | None = None

    @property
    def done(self) -> bool:
        """Whether it was called already."""
        return self._work is None

    def __call__(self) -> _T:
        """The value of the work, or its exception."""
        if self._work is not None:
            work, self._work = self._work, None
            try:
                self._value = work()
            except (Fallback, Unusable) as failure:
                self._failure = failure
        if self._failure is not None:
            raise self._failure
        return self._value


class once(Generic[_T]):  # noqa: N801, a decorator has a lower-case name
    """Decorates a method without arguments: its work is done at most once for each object; see :class:`Once`."""

    def __init__(self, method: Callable[[Any], _T]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Callable[[Any], _T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Once[_T]: ...

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:  # read from the class: a function of an object
            return methodcaller(self._name)
        made = Once(partial(self._method, instance))
        instance.__dict__[self._name] = made  # found before this descriptor from now on
        return made
