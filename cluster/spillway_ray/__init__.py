"""One Spillway search on several machines.

One shared folder contains the whole search. The manifest in it is the only commit point. This
package holds no state. It asks the binary `spillway` for the next plan (`binary`), runs the tasks
of the plan on machines with free resources (`runner`), and asks again (`driver`).
"""

__version__ = "0.2.0"
