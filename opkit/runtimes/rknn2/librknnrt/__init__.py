"""The vendor's librknnrt in the check; the names of its executors' settings.

All but CONVERTER are attachments for driver.c.
"""

CONVERTER = "converter"
"""The start command of simulator_worker.py."""
LIBRARY = "library"
IDLE_NPU = "idle_npu"
