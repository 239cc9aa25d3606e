template <typename T>
void ReadInt(const ::onnx::NodeProto &pb, const char *name, bool is_required, T *value,
             RetCode *status)
{
    const auto *found = Find(pb, name, ::onnx::AttributeProto::INT, is_required, status);

    if (found != nullptr) {
        *value = Narrow<T>(pb, name, found->i(), status);
    }
}
