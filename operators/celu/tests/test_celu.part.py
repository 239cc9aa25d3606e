HALVES = [uniform(-5, 5), special()]
FLOATS = [
    uniform(-20, 20),  # results down to -alpha
    uniform(-1e-3, 1e-3),  # e^x - 1 without cancellation
    special(),
]
PARAMS = [*vary_params(alpha=[0.3, -2.0])]
HALVES_ULP = 1
FLOATS_ULP = 4  # 1 ulp of e^x - 1, and the errors of x / alpha and of the product


def test_reference():
    assert values([-np.inf, 0, 1, np.inf], alpha=2.0).tolist() == [-2, 0, 1, np.inf]
    assert values([-1], alpha=2.0).tolist() == [np.float32(2 * np.expm1(-0.5))]
    assert values([-1e-30], alpha=0.5).tolist() == [np.float32(-1e-30)]
    assert np.isnan(values([np.nan])).all()
