@pytest.mark.parametrize("case", CASES, ids=str)
def test_gpu_kernel(case):
    check_gpu_kernel(case, max_ulp=0)
