/* Slots (slot.h). A line is printed behind the buffer's end before the state says that the transaction is
 * over, so a moment between has it twice, in the buffer and in flight: the number tells. A buffer that is
 * being written out is there twice, too: its length is zeroed only afterwards. Whoever looks while the client
 * goes on compares the numbers before and after. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#include "lab/slot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/tell.h"

/* Pages that are used for sure are made now, by a write: made by a store into memory each takes a file system
 * milliseconds, for all clients together. */
static bool make_pages(int fd)
{
	static const char zeros[KR_SLOT_FULL + KR_SLOT_PENDING];
	struct stat info;

	if (fstat(fd, &info) != 0 || info.st_size == sizeof(struct kr_slot))
		return info.st_size == sizeof(struct kr_slot);
	return ftruncate(fd, sizeof(struct kr_slot)) == 0 &&
		pwrite(fd, zeros, KR_SLOT_PENDING, 0) == KR_SLOT_PENDING &&
		pwrite(fd, zeros, KR_SLOT_PENDING, offsetof(struct kr_slot, pending)) == KR_SLOT_PENDING &&
		pwrite(fd, zeros, sizeof zeros, offsetof(struct kr_slot, buffer)) == sizeof zeros;
}

struct kr_slot *kr_slot_map(const char *folder, uint32_t client)
{
	char path[4096];
	void *slot = MAP_FAILED;

	(void)snprintf(path, sizeof path, "%s/%" PRIu32, folder, client);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return NULL;
	if (make_pages(fd))
		slot = mmap(NULL, sizeof(struct kr_slot), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int error = errno;
	(void)close(fd);
	errno = error;
	return slot == MAP_FAILED ? NULL : slot;
}

void kr_slot_unmap(struct kr_slot *slot)
{
	if (slot)
		(void)munmap(slot, sizeof *slot);
}

void kr_slot_begin(struct kr_slot *slot, uint32_t number, int32_t node, int64_t now)
{
	slot->ops_n = 0;
	slot->pending_n = 0;
	slot->begin[0] = now;
	slot->begin[1] = 0;
	slot->end = 0;
	slot->node = node;
	slot->number = number;
	slot->state = KR_SLOT_OPEN;
}

void kr_slot_begun(struct kr_slot *slot, int64_t now) { slot->begin[1] = now; }

void kr_slot_sent(struct kr_slot *slot, const struct kl_op *op)
{
	struct kr_line line = {.at = slot->pending, .size = sizeof slot->pending};

	kr_tell_sent(&line, op);
	slot->pending_n = line.full ? 0 : (uint32_t)line.n;
}

bool kr_slot_answered(struct kr_slot *slot, const struct kl_op *op, const struct kl_result *result,
	enum kl_answer answer)
{
	uint32_t n = slot->ops_n;
	struct kr_line line = {.at = slot->ops + n, .size = sizeof slot->ops - n};

	if (n > 0)
		kr_line_put(&line, ",");

	size_t start = line.n;

	if (answer == KL_OK)
		kr_tell_answered(&line, op, result);
	else if (answer == KL_GONE || answer == KL_BUG)
		kr_tell_sent(&line, op);
	else
		kr_tell_failed(&line, op, result, answer != KL_STATEMENT);
	if (line.full)
		return false;
	if (line.n > start)
		slot->ops_n = n + (uint32_t)line.n;
	slot->pending_n = 0;
	return true;
}

void kr_slot_ending(struct kr_slot *slot, enum kr_slot_state state, int64_t now)
{
	slot->end = now;
	slot->state = state;
}

void kr_slot_id(struct kr_line *line, uint32_t client, uint32_t number)
{
	kr_line_put(line, "c");
	kr_line_natural(line, client);
	kr_line_put(line, ".");
	kr_line_natural(line, number);
}

static void add_begin(struct kr_line *line, uint32_t client, uint32_t number, int32_t node,
	const int64_t begin[2])
{
	kr_line_put(line, "{\"id\":\"");
	kr_slot_id(line, client, number);
	kr_line_put(line, "\",");
	if (node >= 0) {
		kr_line_add(line, "\"s\":\"n%" PRId32 "c%" PRIu32 "\",", node, client);
	} else if (node == KR_SLOT_ONE_NODE) {
		kr_line_put(line, "\"s\":\"c");
		kr_line_natural(line, client);
		kr_line_put(line, "\",");
	}
	if (begin[1])
		kr_line_pair(line, "\"begin\":[", begin[0], begin[1]);
	else
		kr_line_add(line, "\"begin\":[%" PRId64 ",null]", begin[0]);
	kr_line_put(line, ",");
}

bool kr_slot_end(struct kr_slot *slot, const struct kr_slot_end *e, int file)
{
	uint32_t n = slot->buffer_n;
	struct kr_line line = {.at = slot->buffer + n, .size = sizeof slot->buffer - n};
	int64_t begin[2] = {slot->begin[0], slot->begin[1] ? slot->begin[1] : e->answered};

	add_begin(&line, e->client, slot->number, slot->node, begin);
	kr_line_pair(&line, "\"end\":[", slot->end ? slot->end : e->answered, e->answered);
	kr_line_put(&line, ",\"status\":\"");
	kr_line_put(&line, e->status);
	kr_line_put(&line, "\",");
	if (e->own) {
		kr_line_put(&line, "\"own\":");
		kr_line_natural(&line, e->own);
		kr_line_put(&line, ",");
	}
	if (e->commit && e->commit->has_place)
		kr_line_add(&line, "\"at\":[%" PRIu64 ",%d],", e->commit->place, e->commit->reads_only);
	if (e->level)
		kr_line_add(&line, "\"level\":\"%s\",", e->level);
	if (e->breaks)
		kr_line_add(&line, "\"breaks\":\"%s\",", e->breaks);
	kr_line_put(&line, "\"ops\":[");
	kr_line_bytes(&line, slot->ops, slot->ops_n);
	kr_line_put(&line, "]}\n");
	if (line.full)
		return false;
	slot->buffer_n = n + (uint32_t)line.n;
	slot->state = KR_SLOT_IDLE;
	return slot->buffer_n < KR_SLOT_FULL || kr_slot_flush(slot, file);
}

bool kr_slot_flush(struct kr_slot *slot, int file)
{
	for (uint32_t done = 0; done < slot->buffer_n;) {
		ssize_t n = write(file, slot->buffer + done, slot->buffer_n - done);

		if (n < 0 && errno != EINTR)
			return false;
		done += n > 0 ? (uint32_t)n : 0;
	}
	slot->flushes++;
	slot->buffer_n = 0;
	return true;
}

/* ---- looking ---- */

static bool copy_lines(const struct kr_slot *slot, struct kr_slot_view *out)
{
	for (;;) {
		uint32_t flushes = slot->flushes, n = slot->buffer_n;

		free(out->lines);
		out->lines = malloc((size_t)n + 1);
		if (!out->lines)
			return false;
		memcpy(out->lines, slot->buffer, n);
		out->lines[n] = '\0';
		out->lines_n = n;
		if (slot->flushes == flushes && slot->buffer_n >= n)
			return true;
	}
}

/* The transaction that is in flight now, as far as it is known to have come. False: it went on meanwhile. */
static bool copy_flight(const struct kr_slot *slot, uint32_t client, struct kr_line *line, uint32_t *number)
{
	enum kr_slot_state state = slot->state;
	int64_t begin[2];

	line->n = 0;
	*number = slot->number;
	if (state == KR_SLOT_IDLE)
		return slot->state == state && slot->number == *number;
	begin[0] = slot->begin[0];
	begin[1] = slot->begin[1];
	add_begin(line, client, *number, slot->node, begin);
	if (slot->end && state == KR_SLOT_COMMITTING)
		kr_line_add(line, "\"end\":[%" PRId64 ",null],", slot->end);
	kr_line_add(line, "\"status\":\"%s\",\"ops\":[", state == KR_SLOT_COMMITTING ? "unknown" : "aborted");
	uint32_t ops_n = slot->ops_n;
	kr_line_bytes(line, slot->ops, ops_n);

	uint32_t pending_n = slot->pending_n;

	if (pending_n > 0) {
		kr_line_put(line, ops_n > 0 ? "," : "");
		kr_line_bytes(line, slot->pending, pending_n);
	}
	kr_line_put(line, "]}");
	return slot->state == state && slot->number == *number && slot->ops_n == ops_n &&
		slot->pending_n == pending_n;
}

bool kr_slot_look(const struct kr_slot *slot, uint32_t client, struct kr_slot_view *out)
{
	struct kr_line line = {.size = KR_SLOT_OPS + 2 * KR_SLOT_PENDING};

	*out = (struct kr_slot_view){0};
	line.at = malloc(line.size);
	if (!line.at)
		return false;
	do {
		while (!copy_flight(slot, client, &line, &out->number))
			line.full = false;
		if (!copy_lines(slot, out)) {
			free(line.at);
			return false;
		}
		/* it may have ended between, and the next one begun: then its line is in the buffer */
	} while (slot->number != out->number);
	if (line.n == 0 || line.full) {
		free(line.at);
		return true;
	}
	out->flight = realloc(line.at, line.n + 1);
	out->flight = out->flight ? out->flight : line.at;
	out->flight[line.n] = '\0';
	return true;
}
