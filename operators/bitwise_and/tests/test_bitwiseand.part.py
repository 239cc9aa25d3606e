def test_reference():
    a, b = np.int8([[12, -1, -128, 5], [10, 77, 127, -6]])
    assert reference({"a": a, "b": b}, {})["c"].tolist() == [8, 77, 0, 0]
