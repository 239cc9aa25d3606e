/* Converts ONNX's 64-bit integer to the param's type; out of range is an error. */
template <typename T>
T Narrow(const ::onnx::NodeProto &pb, const char *name, int64_t number, RetCode *status)
{
    const T value = static_cast<T>(number);
    const bool fits = std::numeric_limits<T>::is_signed || number >= 0;

    if (!fits || static_cast<int64_t>(value) != number) {
        LOG(ERROR) << "attribute[" << name << "] of node[" << pb.name() << "] is [" << number
                   << "], which is out of range";
        *status = RC_INVALID_VALUE;
    }
    return value;
}
