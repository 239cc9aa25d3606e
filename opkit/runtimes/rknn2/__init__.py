"""RKNN-Toolkit2: RK3588, RK3576, RK3568, RK3566, RK3562 and RV1126B."""

from opkit.runtimes.rknn2.runtime import Rknn2

RUNTIME = Rknn2()
