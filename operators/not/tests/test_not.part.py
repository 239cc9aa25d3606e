def test_reference():
    assert reference({"x": np.bool_([0, 1])}, {})["y"].tolist() == [True, False]
