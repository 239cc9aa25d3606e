    if (shape->GetDataFormat() != ppl::common::DATAFORMAT_NDARRAY) {
        LOG(ERROR) << "tensor[" << tensor.GetName() << "] has the data format ["
                   << shape->GetDataFormat() << "], " << NAME << " takes NDARRAY";
        return RC_UNSUPPORTED;
    }
