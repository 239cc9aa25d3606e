"""`build/report.html`: the results of a run of the cases, as one self-contained page."""
