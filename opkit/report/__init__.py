"""`build/report.html`: a run of the cases as one page that needs nothing besides itself."""
