HALVES = [uniform(-1, 1), special()]
FLOATS = [uniform(-1, 1), uniform(-1e-3, 1e-3), uniform(0.999, 1), special()]
HALVES_ULP = 1
FLOATS_ULP = 2  # 1 ulp of the logarithm, and the error of its argument


def test_reference():
    expected = [0, np.float32(1e-30), np.float32(-np.log(3) / 2), np.inf, -np.inf]
    assert values([0, 1e-30, -0.5, 1, -1]).tolist() == expected
    assert np.isnan(values([1.5, -np.inf, np.nan])).all()
