"""Work that is done at most once, when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import methodcaller
from typing import Any, Generic, TypeVar, overload

from testlore.errors import Fallback, Unusable

_T = TypeVar("_T")


class Once(Generic[_T]):
    """A piece of work that is done when it is first called, and remembered with its value or its failure.

    Args:
        work: may raise ``Fallback`` or ``Unusable``; each later call raises the same one.
    """

    def __init__(self, work: Callable[[], _T]) -> None:
        self._work: Callable[[], _T] | None = work
        self._failure: Fallback | Unusable | None = None

    @property
    def done(self) -> bool:
        """Whether it was called before."""
        return self._work is None

    def __call__(self) -> _T:
        """The value; or the failure, raised."""
        if self._work is not None:
            work, self._work = self._work, None
            try:
                self._value = work()
            except (Fallback, Unusable) as failure:
                self._failure = failure
        if self._failure is not None:
            raise self._failure
        return self._value


class once(Generic[_T]):  # noqa: N801, it reads as the decorator that it is
    """A method without arguments that works once for each object; see :class:`Once`."""

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
        if instance is None:  # asked of the class: a function of one of its objects
            return methodcaller(self._name)
        made = Once(partial(self._method, instance))
        instance.__dict__[self._name] = made  # from now on the object has its own, and this is not asked again
        return made
