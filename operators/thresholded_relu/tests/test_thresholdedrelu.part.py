HALVES = [uniform(-5, 5), special()]
FLOATS = [uniform(-5, 5), special()]
PARAMS = [*vary_params(alpha=[0.0, -2.5])]
HALVES_ULP = 0
FLOATS_ULP = 0


def test_reference():
    assert values([-2, 1, 1.5, np.inf, np.nan]).tolist() == [0, 0, 1.5, np.inf, 0]
    assert values([-2, -3], alpha=-2.5).tolist() == [-2, 0]
