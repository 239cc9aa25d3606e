def test_reference():
    a, b = np.bool_([[0, 0, 1, 1], [0, 1, 0, 1]])
    assert reference({"a": a, "b": b}, {})["c"].tolist() == [False, True, True, True]
