HALVES = [uniform(-30, 30), special()]
FLOATS = [uniform(-10, 10), uniform(-1e-3, 1e-3), uniform(-3e38, 3e38), special()]
HALVES_ULP = 1
FLOATS_ULP = 2  # 1 ulp of the logarithm, and the error of its argument


def test_reference():
    expected = [0, np.float32(1e-30), -2, np.inf, -np.inf]
    assert values([0, 1e-30, np.sinh(-2), np.inf, -np.inf]).tolist() == expected
    assert np.isnan(values([np.nan])).all()
