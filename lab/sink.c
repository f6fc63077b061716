/* The order as lines: "v KEY MARK VALUE" (of one that is deleted "-") or "w KEY ID" (a version, oldest
 * first), "p ID PLACE", "l MARK" (the writer of the initial rows). */
#include "lab/sink.h"

#include <inttypes.h>

bool kr_sink_open(struct kl_sink *sink, const char *folder)
{
	char path[4200];

	(void)snprintf(path, sizeof path, "%s/" KR_SINK_NAME, folder);
	sink->file = fopen(path, "we");
	return sink->file != NULL;
}

bool kr_sink_close(struct kl_sink *sink)
{
	bool failed = ferror(sink->file) != 0;

	return fclose(sink->file) == 0 && !failed;
}

bool kl_tell_version(struct kl_sink *sink, const char *key, uint64_t mark, const int64_t *value)
{
	return value ? fprintf(sink->file, "v %s %" PRIu64 " %" PRId64 "\n", key, mark, *value) > 0
		     : fprintf(sink->file, "v %s %" PRIu64 " -\n", key, mark) > 0;
}

bool kl_tell_version_by(struct kl_sink *sink, const char *key, const char *id)
{
	return fprintf(sink->file, "w %s %s\n", key, id) > 0;
}

bool kl_tell_place(struct kl_sink *sink, const char *id, uint64_t place)
{
	return fprintf(sink->file, "p %s %" PRIu64 "\n", id, place) > 0;
}

bool kl_tell_loader(struct kl_sink *sink, uint64_t mark)
{
	return fprintf(sink->file, "l %" PRIu64 "\n", mark) > 0;
}
