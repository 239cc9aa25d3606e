template <typename T>
void ReadFloat(const ::onnx::NodeProto &pb, const char *name, bool is_required, T *value,
               RetCode *status)
{
    const auto *found = Find(pb, name, ::onnx::AttributeProto::FLOAT, is_required, status);

    if (found != nullptr) {
        *value = found->f();
    }
}
