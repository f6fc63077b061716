/* A client's lines are in the file, then in its slot's buffer, then it has one in flight. What is being moved
 * from one to the next is in both: a client's numbers grow, so the file's lines from the buffer's first
 * number on are left out (a write that was cut short may have damaged them), and one in flight whose line is
 * there. Slots are looked at before the file is read: so nothing can slip through between the two. */
#define _GNU_SOURCE /* getline */
#include "lab/merge.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct seen {
	struct kr_slot_view view;
	uint32_t first; /* number of the buffer's first line; UINT32_MAX: it has none */
	int64_t last;   /* number taken last; -1: none */
};

bool kr_line_id(const char *line, uint32_t *client, uint32_t *number)
{
	return sscanf(line, "{\"id\":\"c%" SCNu32 ".%" SCNu32 "\"", client, number) == 2;
}

static bool is_whole(const struct kr_merging *m, const char *line, size_t length)
{
	if (!m->damaged_lines)
		return true;
	json_t *json = json_loadb(line, length, 0, NULL);
	json_decref(json);
	return json != NULL;
}

static bool take(struct kr_merging *m, struct seen *seen, char *line, size_t length, bool in_flight)
{
	uint32_t client, number;

	if (!kr_line_id(line, &client, &number) || client >= m->clients) {
		m->torn++;
		return true;
	}
	if ((int64_t)number <= seen[client].last)
		return true;
	seen[client].last = number;
	m->in_flight += in_flight;
	return m->take(m->data, client, number, line, length, in_flight);
}

static bool take_file(struct kr_merging *m, struct seen *seen)
{
	FILE *file = fopen(m->path, "re");
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	uint64_t at = m->from;
	bool fine = file && fseeko(file, (off_t)at, SEEK_SET) == 0;

	while (fine && (m->to == 0 || at < m->to) && (n = getline(&line, &size, file)) > 0) {
		uint32_t client, number;
		bool header = at == 0;

		at += (uint64_t)n;
		if (header)
			continue;
		if (line[n - 1] != '\n' || !kr_line_id(line, &client, &number) || client >= m->clients) {
			m->torn++;
			continue;
		}
		if (number >= seen[client].first)
			continue;
		line[--n] = '\0';
		if (is_whole(m, line, (size_t)n))
			fine = take(m, seen, line, (size_t)n, false);
		else
			m->torn++;
	}
	free(line);
	if (file)
		(void)fclose(file);
	return fine;
}

static bool take_slot(struct kr_merging *m, struct seen *seen, uint32_t client)
{
	struct kr_slot_view *view = &seen[client].view;
	bool fine = true;

	for (char *line = view->lines, *end; fine && (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		m->buffered++;
		fine = take(m, seen, line, (size_t)(end - line), false);
	}
	return fine && (!view->flight || take(m, seen, view->flight, strlen(view->flight), true));
}

bool kr_merge(struct kr_merging *m)
{
	struct seen *seen = calloc(m->clients ? m->clients : 1, sizeof *seen);
	bool fine = seen != NULL;

	for (uint32_t i = 0; i < m->clients && fine; i++) {
		uint32_t client;

		seen[i].last = -1;
		seen[i].first = UINT32_MAX;
		if (m->views)
			seen[i].view = m->views[i];
		else
			fine = kr_slot_look(m->slots[i], i, &seen[i].view);
		if (fine && seen[i].view.lines_n > 0)
			(void)kr_line_id(seen[i].view.lines, &client, &seen[i].first);
	}
	fine = fine && take_file(m, seen);
	for (uint32_t i = 0; i < m->clients && fine; i++)
		fine = take_slot(m, seen, i);
	for (uint32_t i = 0; i < m->clients && seen; i++) {
		free(seen[i].view.lines);
		free(seen[i].view.flight);
	}
	free(seen);
	return fine;
}

struct kr_slot **kr_slots_map(const char *folder, uint32_t *clients)
{
	struct kr_slot **slots = NULL;
	char path[4200];

	*clients = 0;
	for (;;) {
		(void)snprintf(path, sizeof path, "%s/%" PRIu32, folder, *clients);
		if (access(path, F_OK) != 0)
			return slots;
		struct kr_slot **more = realloc(slots, (*clients + 1) * sizeof *slots);
		if (more)
			slots = more;
		if (!more || (slots[*clients] = kr_slot_map(folder, *clients)) == NULL) {
			kr_slots_unmap(slots, *clients);
			return NULL;
		}
		(*clients)++;
	}
}

void kr_slots_unmap(struct kr_slot **slots, uint32_t clients)
{
	for (uint32_t i = 0; i < clients; i++)
		kr_slot_unmap(slots[i]);
	free(slots);
}
