"""What proves the whole on a real project, and what fills the repository's own memory.

::

    doit proof                             prove everything with the wheel, and write its receipt
    doit proof runtime=node [sdk_root=DIR] the same with RuVector under Node
    doit verify_receipt                    whether the committed receipts still fit today's sources
    doit own_memory                        stage and validate proof/candidates, and remember them in this repository

It is part of the checkout, not of the wheel.
"""
