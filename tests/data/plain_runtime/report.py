"""What the report shows of the plain runtime: nothing of its own."""

from opkit.runtimes.report import Report

REPORT = Report()
