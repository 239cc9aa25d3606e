HALVES = [uniform(-5, 5), special()]
FLOATS = [uniform(-5, 5), special()]
HALVES_ULP = 0
FLOATS_ULP = 0


def test_reference():
    assert values([1.5, -2, np.inf]).tolist() == [-1.5, 2, -np.inf]
    assert np.isnan(values([np.nan])).all()
    assert np.signbit(values([0.0, -0.0])).tolist() == [True, False]
