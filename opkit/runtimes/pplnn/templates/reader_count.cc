const int ANY_LENGTH = 0;

/* Checks the length of a list against op.yml. */
bool HasLength(const ::onnx::NodeProto &pb, const char *name, int count, int length,
               RetCode *status)
{
    if (length != ANY_LENGTH && count != length) {
        LOG(ERROR) << "attribute[" << name << "] of node[" << pb.name() << "] has [" << count
                   << "] items, expected [" << length << "]";
        *status = RC_INVALID_VALUE;
    }
    return *status == RC_SUCCESS;
}
