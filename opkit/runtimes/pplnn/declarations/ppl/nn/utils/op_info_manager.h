#ifndef PPL_NN_UTILS_OP_INFO_MANAGER_H
#define PPL_NN_UTILS_OP_INFO_MANAGER_H

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ppl/common/retcode.h"

namespace ppl { namespace nn { namespace utils {

/* A range of versions, both ends included. */
struct VersionRange final {
    VersionRange(uint64_t first_version = 0, uint64_t last_version = 0)
        : first(first_version), last(last_version)
    {
    }
    uint64_t first;
    uint64_t last;
};

template <typename T>
class OpInfoManager {
public:
    virtual ~OpInfoManager()
    {
    }
    static OpInfoManager *GetInstance()
    {
        static OpInfoManager manager;
        return &manager;
    }
    ppl::common::RetCode Register(const std::string &domain, const std::string &type,
                                  const VersionRange &range, const T &item)
    {
        for (const auto &entry : items_[Key(domain, type)]) {
            if (range.first <= entry.first.last && entry.first.first <= range.last) {
                return ppl::common::RC_EXISTS;
            }
        }
        items_[Key(domain, type)].push_back(std::make_pair(range, item));
        return ppl::common::RC_SUCCESS;
    }
    const T *Find(const std::string &domain, const std::string &type, uint64_t version,
                  VersionRange *supported = nullptr) const
    {
        const auto found = items_.find(Key(domain, type));
        if (found == items_.end()) {
            return nullptr;
        }
        if (supported != nullptr) {
            *supported = found->second.back().first;
        }
        for (const auto &entry : found->second) {
            if (entry.first.first <= version && version <= entry.first.last) {
                return &entry.second;
            }
        }
        return nullptr;
    }

protected:
    OpInfoManager()
    {
    }

private:
    typedef std::pair<std::string, std::string> Key;
    std::map<Key, std::vector<std::pair<VersionRange, T>>> items_;
};

}}} // namespace ppl::nn::utils

#endif
