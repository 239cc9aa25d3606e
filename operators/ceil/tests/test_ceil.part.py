HALVES = [uniform(-5, 5), special()]
FLOATS = [
    uniform(-100, 100),
    uniform(-2e7, 2e7),  # also without a fraction
    special(),
]
HALVES_ULP = 0
FLOATS_ULP = 0


def test_reference():
    assert values([-1.5, -1, 0, 0.5, 2.5, np.inf]).tolist() == [-1, -1, 0, 1, 3, np.inf]
    assert np.isnan(values([np.nan])).all()
    assert np.signbit(values([-0.5, -0.0])).all()
