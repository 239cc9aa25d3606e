HALVES = [uniform(-5, 5), special()]
FLOATS = HALVES
HALVES_ULP = 0
FLOATS_ULP = 0


def test_reference():
    assert values([np.nan, -np.nan, np.inf, 0, 1]).tolist() == [True, True, False, False, False]
