"""A GPU fleet that is not there: the pages of its exporters, which count on with time, and its faults on demand."""
