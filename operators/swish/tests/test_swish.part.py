HALVES = [uniform(-9, 9), special()]
FLOATS = [uniform(-1, 1), uniform(-9, 9), special()]
PARAMS = [*vary_params(alpha=[0.3, -1.7])]
HALVES_ULP = 1
FLOATS_ULP = 9  # alpha * x, rounded to float32, is off by up to 2^-21 for |alpha * x| up to 16


def test_reference():
    expected = [0, 1 / (1 + np.exp(-1)), -2 / (1 + np.exp(2))]
    np.testing.assert_allclose(values([0, 1, -2]), expected, rtol=1e-7)
    assert values([1], alpha=2.0).tolist() == [np.float32(1 / (1 + np.exp(-2)))]
    assert values([np.inf, 100]).tolist() == [np.inf, 100]
    assert np.isnan(values([-np.inf, np.nan])).all()  # -inf * 0
