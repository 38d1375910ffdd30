"""Which names may follow a dot: what is known of modules, classes and `self`, read without running anything.

::

    text -> logical lines -> facts of a module -> what a receiver is -> its closed set of names -> a verdict
            lines            pieces, facts        receivers, modules    members                    check

This is Python's way; `script/` has that of JavaScript and TypeScript, and `languages.py` the table. A receiver is
judged only if every name that it can have is known; else there is no verdict. Every rule here gives way towards knowing
too many names: a legal one must never be refused.
"""
