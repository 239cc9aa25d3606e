HALVES = [uniform(-5, 5), special()]
FLOATS = [uniform(-5, 5), uniform(-1e6, 1e6), special()]
HALVES_ULP = 1
FLOATS_ULP = 1


def test_reference():
    assert values([0, 1, -3]).tolist() == [0, 0.5, -0.75]
    assert np.isnan(values([np.inf, np.nan])).all()
