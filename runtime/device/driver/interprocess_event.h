/* Events that processes share. Called with the device's lock held. */
#ifndef RUNTIME_DEVICE_DRIVER_INTERPROCESS_EVENT_H
#define RUNTIME_DEVICE_DRIVER_INTERPROCESS_EVENT_H

#include "runtime/device/driver/driver.h"

struct shared_event;

/* Of a new event with CU_EVENT_INTERPROCESS; NULL: there is no room. */
struct shared_event *interprocess_event_create(void);
/* May be NULL. */
void interprocess_event_destroy(struct shared_event *event);

/* The item of a record, which passes the mark (taken) when it is done; NULL: memory is short. */
struct item *interprocess_event_record(struct shared_event *event, struct mark *mark);
/* Whether the newest record of any process is done, or there is none. */
bool interprocess_event_done(const struct CUevent_st *event);
/* Whether another process made the newest record, which the event's mark does not stand for. */
bool interprocess_event_is_foreign(const struct CUevent_st *event);
/* If another process made the newest record, the event's mark stands for that one from now on. */
CUresult interprocess_event_look(struct CUevent_st *event, struct CUctx_st *context);

#endif
