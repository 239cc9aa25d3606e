BROADCAST = cases(
    shapes=[
$shapes
    ],
    values=[$values],
    params=$params,
$dtype
)


@pytest.mark.parametrize("case", BROADCAST, ids=str)
def test_broadcast(case):
    check_cpu_kernel(case, max_ulp=0)
