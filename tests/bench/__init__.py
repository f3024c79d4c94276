"""The benchmark: how fast the compiler is beside other programs that do a like task, on this machine, in this run.

Every figure that is judged is a ratio of two runs made one after the other. Seconds are printed so that a reader can
judge the ratio, and are never a bound: they say more about the machine than about the program.
"""
