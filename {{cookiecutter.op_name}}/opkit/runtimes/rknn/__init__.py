"""RKNN-Toolkit 1.x: RK1806, RK1808, RK3399Pro, RV1109 and RV1126."""

from opkit.runtimes.rknn.runtime import Rknn

RUNTIME = Rknn()
