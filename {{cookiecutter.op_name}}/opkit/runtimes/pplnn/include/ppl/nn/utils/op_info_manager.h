#ifndef PPL_NN_UTILS_OP_INFO_MANAGER_H
#define PPL_NN_UTILS_OP_INFO_MANAGER_H

#include <map>
#include <string>
#include <utility>

#include "ppl/common/retcode.h"

namespace ppl { namespace nn { namespace utils {

struct VersionRange final {
    VersionRange(uint64_t first_version, uint64_t last_version)
        : first(first_version), last(last_version)
    {
    }
    uint64_t first;
    uint64_t last;
};

template <typename T>
class OpInfoManager {
public:
    ppl::common::RetCode Register(const std::string &domain, const std::string &type,
                                  const VersionRange &range, const T &item)
    {
        const Key key(domain, type);
        if (items_.find(key) != items_.end()) {
            return ppl::common::RC_EXISTS;
        }
        items_.insert(std::make_pair(key, std::make_pair(range, item)));
        return ppl::common::RC_SUCCESS;
    }
    const T *Find(const std::string &domain, const std::string &type, uint64_t version) const
    {
        const auto found = items_.find(Key(domain, type));
        if (found == items_.end()) {
            return nullptr;
        }
        const VersionRange &range = found->second.first;
        const bool fits = range.first <= version && version <= range.last;
        return fits ? &found->second.second : nullptr;
    }

private:
    typedef std::pair<std::string, std::string> Key;
    std::map<Key, std::pair<VersionRange, T>> items_;
};

}}} // namespace ppl::nn::utils

#endif
