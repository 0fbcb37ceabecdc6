"""One Spillway search on several machines.

All that a search is lies in one shared folder, and the manifest in it is the only commit point.
What is here holds no state: it asks the binary `spillway` what is to be done next (`binary`), has
it done wherever there is room (`runner`), and asks again (`driver`).
"""

__version__ = "0.2.0"
