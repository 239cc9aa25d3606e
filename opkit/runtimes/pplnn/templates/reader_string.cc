void ReadString(const ::onnx::NodeProto &pb, const char *name, bool is_required, std::string *value,
                RetCode *status)
{
    const auto *found = Find(pb, name, ::onnx::AttributeProto::STRING, is_required, status);

    if (found != nullptr) {
        *value = found->s();
    }
}
