"""RKNN-Toolkit2: the version for simulations, and what it does with ONNX's own operators.

It ignores classes for them.
"""

from __future__ import annotations

DISTRIBUTION = "rknn-toolkit2"
# .ci/rknn2_environment reads this line.
VERSION = "2.5.0"
PACKAGES = f"{DISTRIBUTION}=={VERSION} 'setuptools<81'"
"""The arguments of `pip install` in a shell. The toolkit needs pkg_resources, which newer versions
of setuptools do not have."""


ONNX_OPERATORS = frozenset(
    """
    Abs Acos Acosh Add AffineGrid And ArgMax ArgMin Asin Asinh Atan Atanh Attention AveragePool
    BatchNormalization Bernoulli BitCast BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor
    BlackmanWindow Cast CastLike Ceil Celu CenterCropPad Clip Col2Im Compress Concat
    ConcatFromSequence Constant ConstantOfShape Conv ConvInteger ConvTranspose Cos Cosh CumProd
    CumSum DFT DeformConv DepthToSpace DequantizeLinear Det Div Dropout DynamicQuantizeLinear Einsum
    Elu Equal Erf Exp Expand EyeLike Flatten Floor GRU Gather GatherElements GatherND Gelu Gemm
    GlobalAveragePool GlobalLpPool GlobalMaxPool Greater GreaterOrEqual GridSample
    GroupNormalization HammingWindow HannWindow HardSigmoid HardSwish Hardmax Identity If
    ImageDecoder InstanceNormalization IsInf IsNaN LRN LSTM LayerNormalization LeakyRelu Less
    LessOrEqual Log LogSoftmax Loop LpNormalization LpPool MatMul MatMulInteger Max MaxPool
    MaxRoiPool MaxUnpool Mean MeanVarianceNormalization MelWeightMatrix Min Mish Mod Mul Multinomial
    Neg NegativeLogLikelihoodLoss NonMaxSuppression NonZero Not OneHot Optional OptionalGetElement
    OptionalHasElement Or PRelu Pad Pow QLinearConv QLinearMatMul QuantizeLinear RMSNormalization
    RNN RandomNormal RandomNormalLike RandomUniform RandomUniformLike Range Reciprocal ReduceL1
    ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum
    ReduceSumSquare RegexFullMatch Relu Reshape Resize ReverseSequence RoiAlign RotaryEmbedding
    Round STFT Scan Scatter ScatterElements ScatterND Selu SequenceAt SequenceConstruct
    SequenceEmpty SequenceErase SequenceInsert SequenceLength SequenceMap Shape Shrink Sigmoid Sign
    Sin Sinh Size Slice Softmax SoftmaxCrossEntropyLoss Softplus Softsign SpaceToDepth Split
    SplitToSequence Sqrt Squeeze StringConcat StringNormalizer StringSplit Sub Sum Swish Tan Tanh
    TensorScatter TfIdfVectorizer ThresholdedRelu Tile TopK Transpose Trilu Unique Unsqueeze
    Upsample Where Xor
    """.split()
)

MAX_OPSET = 19
"""The newest opset that RKNN-Toolkit2 converts."""
LAST_OPSETS = {"Scatter": 10, "Upsample": 9}
"""Operators that opset 19 no longer has -> the last opset that has them."""
LATER_OPERATORS = frozenset(
    """
    AffineGrid Attention BitCast CumProd Gelu GroupNormalization ImageDecoder RMSNormalization
    RegexFullMatch RotaryEmbedding StringConcat StringSplit Swish TensorScatter
    """.split()
)
"""The operators of later opsets only."""
LIST_CONSTANTS = frozenset({"TopK"})
"""Operators with a constant of one number that is a list of one; the others have a scalar."""


def opset_of(op_type: str) -> int:
    """Return the newest opset that has an operator and that RKNN-Toolkit2 converts."""
    return LAST_OPSETS.get(op_type, MAX_OPSET)
