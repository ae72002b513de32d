"""The stages of a recall, one module a task of the graph, and the session that runs each of them at most once.

::

    validate -> key -> embed -> index -> query -> recall

doit's tasks and the ``testlore`` command are two ways to the same session. A stage returns what it made, or raises
:class:`~testlore.errors.Fallback`; whoever asks again gets the same value or the same exception.
"""
