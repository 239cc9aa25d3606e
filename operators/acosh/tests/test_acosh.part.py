HALVES = [uniform(1, 30), special()]
FLOATS = [
    uniform(1, 2),
    uniform(1, 1.001),  # results near 0
    uniform(1, 3e38),
    special(),
]
HALVES_ULP = 1
FLOATS_ULP = 2  # 1 ulp of the logarithm, and the error of its argument


def test_reference():
    assert values([1, np.cosh(2), np.inf]).tolist() == [0, 2, np.inf]
    assert np.isnan(values([0.5, -3, -np.inf, np.nan])).all()
