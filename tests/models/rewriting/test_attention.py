"""The form of Attention."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from onnx import defs

from rknn_op.models.rewriting.body_proof import prove
from rknn_op.models.rewriting.form import Form, forms_in
from rknn_op.models.rewriting.forms import attention
from tests.models.rewriting.attention_examples import EXAMPLES
from tests.models.rewriting.node_tests import Case, case, outcomes, trial
from tests.operators.calls.attention import attention_calls
from tests.operators.oracle import Call

[FORM] = forms_in(attention)
INPUTS = [each.name for each in defs.get_schema("Attention", 24, "").inputs]


def problem(tried: Case, form: Form = FORM) -> str:
    """Return why the form is not proven for a node; empty: it is."""
    made = trial(form, tried)
    return prove(made.body, made.original, made.inputs).problem


def test_example() -> None:
    assert not problem(EXAMPLES["Attention"])


@pytest.mark.slow
@pytest.mark.nightly
def test_node_tests() -> None:
    results = Counter(
        "bfloat16" if name.endswith("_bf16") else reason or (proof and proof.problem.split(":")[0])
        for name, reason, proof in outcomes(FORM)
    )
    assert results == {
        "": 57,
        "output 3 is used": 18,
        "input 6 is set": 11,
        "bfloat16": 5,
        # A mask removes all keys of a query: 0 there, and the mean of the values in the form.
        "output Y differs": 2,
    }


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(call=attention_calls(), opset=st.sampled_from((23, 24)))
def test_random_nodes(call: Call, opset: int) -> None:
    assume("nonpad_kv_seqlen" not in call.inputs)
    mask = call.inputs.get("attn_mask", np.ones(1, bool))
    rows = call.inputs["Q"].shape[2 if "q_num_heads" not in call.attributes else 1]
    if mask.dtype == bool:
        seen = np.broadcast_to(mask, (*mask.shape[:-2], rows, mask.shape[-1])).copy()
        if call.attributes["is_causal"]:
            past = call.inputs["past_key"].shape[2] if "past_key" in call.inputs else 0
            seen = np.tril(seen, past)
        assume(seen.any(-1).all())
    inputs = [call.inputs.get(name) for name in INPUTS]
    while inputs[-1] is None:
        inputs.pop()
    outputs = 3 if "past_key" in call.inputs else 1  # onnxruntime wants both
    assert not problem(case("Attention", inputs, opset, outputs, **call.attributes))
