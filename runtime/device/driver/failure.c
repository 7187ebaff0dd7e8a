/* Reports that a kernel failed: to the subscriber (failure.h), or else on standard error. Called by
 * launch.c. */
#include "runtime/device/driver/driver.h"

void failure_report(const struct device_failure *failure, bool printed)
{
    device_failure_done *failed = device.failure.failed;
    void *user = device.failure.user;
    if (!failed) {
        if (!printed)
            device_say("%s", failure->message);
        return;
    }
    device_unlock();
    failed(user, failure);
    device_lock();
}

__attribute__((visibility("default"))) void device_failure_subscribe(device_failure_done *failed,
                                                                     void *user)
{
    device_lock();
    device.failure.failed = failed;
    device.failure.user = user;
    device_unlock();
}
