HALVES = [uniform(-5, 5), special()]
FLOATS = [uniform(-5, 5), special()]
PARAMS = [*vary_params(lambd=[1.5, -1.0], bias=[1.5, -0.25])]
HALVES_ULP = 0
FLOATS_ULP = 0


def test_reference():
    assert values([-2, -0.5, 0, 0.5, 2]).tolist() == [-2, 0, 0, 0, 2]
    assert values([-2, 0.5, 2], lambd=1.5, bias=1.5).tolist() == [-0.5, 0, 0.5]
    assert values([-np.inf, np.inf, np.nan], bias=1.0).tolist() == [-np.inf, np.inf, 0]


def test_reference_below_both_limits():
    assert values([0], lambd=-1.0, bias=0.25).tolist() == [0.25]
