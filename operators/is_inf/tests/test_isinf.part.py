HALVES = [uniform(-5, 5), special()]
FLOATS = HALVES
PARAMS = [*vary_params(detect_negative=[0], detect_positive=[0])]
HALVES_ULP = 0
FLOATS_ULP = 0


def test_reference():
    x = [np.inf, -np.inf, 3e38, 0, np.nan]
    assert values(x).tolist() == [True, True, False, False, False]
    assert values(x, detect_negative=0).tolist() == [True, False, False, False, False]
    assert values(x, detect_positive=0).tolist() == [False, True, False, False, False]
    assert not values(x, detect_negative=0, detect_positive=0).any()
