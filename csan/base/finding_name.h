/* The names that documents and recordings use for a finding's kind, accesses and levels. */
#ifndef CSAN_BASE_FINDING_NAME_H
#define CSAN_BASE_FINDING_NAME_H

/* Of enum csan_race_kind: "data", "use-after-free". -1: no such. */
const char *finding_kind_name(int kind);
int finding_kind_of(const char *name);
/* Of enum csan_level: as JSON and dumps write it, and as summaries count it. */
const char *finding_level_name(int level);
const char *finding_level_words(int level);
/* Of enum csan_access_kind: "read", "free". -1: no such. */
const char *finding_access_name(int kind);
int finding_access_of(const char *name);

#endif
