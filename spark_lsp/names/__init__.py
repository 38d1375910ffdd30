"""Which names may follow a dot: what is known of modules, classes and `self`, read without running anything.

::

    text -> logical lines -> facts of a module -> what a receiver is -> its closed set of names -> a verdict
            lines            pieces, facts        receivers, modules    members                    check

Python only. A receiver is judged only if every name that it can have is known; else there is no verdict. Every rule
here gives way towards knowing too many names: a legal one must never be refused.
"""
