/* Transactions of a recording that goes on (prefix.h), in two passes: the finished ones; after that those
 * that are in flight, or were finished meanwhile, which may have written what the first ones saw. */
#include "lab/prefix.h"

#include <stdlib.h>
#include <string.h>

#include "lab/merge.h"

void kr_line_strike(json_t *json)
{
	json_t *op, *ops = json_object_get(json, "ops");
	size_t i;

	json_array_foreach(ops, i, op)
	{
		json_t *attributes = json_array_get(op, json_array_size(op) - 1);

		if (json_is_object(attributes)) {
			(void)json_object_del(attributes, "marks");
			(void)json_object_del(attributes, "sees");
		}
	}
	(void)json_object_del(json, "own");
	(void)json_object_del(json, "at");
}

struct prefix {
	FILE *out;
	int64_t *last; /* number of each client's last transaction in the first pass */
	bool second;
	uint64_t lines;
};

/* A transaction of the second pass: it may have written what the first pass saw, and what itself saw is not
 * asked. */
static void blank(json_t *json)
{
	json_t *ops = json_object_get(json, "ops"), *kept = json_array(), *op, *row;
	size_t i, r;

	json_array_foreach(ops, i, op)
	{
		const char *name = json_string_value(json_array_get(op, 0));
		json_t *key = json_array_get(op, 1), *value = json_array_get(op, 2);

		if (strcmp(name, "w") == 0 ||
			(strcmp(name, "insert") == 0 && json_is_true(json_array_get(op, 3))))
			(void)json_array_append_new(kept, json_pack("[sOO]", "w", key, value));
		else if (strcmp(name, "inc") == 0 || strcmp(name, "append") == 0 || strcmp(name, "add") == 0)
			(void)json_array_append_new(kept, json_pack("[sOO]", name, key, value));
		else if (strcmp(name, "d") == 0)
			(void)json_array_append_new(kept, json_pack("[sO]", name, key));
		else if (strcmp(name, "update") == 0)
			json_array_foreach(json_array_get(op, 3), r, row)(void) json_array_append_new(kept,
				json_pack("[sOO]", "w", json_array_get(row, 0), json_array_get(row, 1)));
	}
	(void)json_object_set_new(json, "ops", kept);
	(void)json_object_set_new(json, "status", json_string("unknown"));
	json_array_set_new(json_object_get(json, "end"), 1, json_null());
}

static bool take_prefix(void *data, uint32_t client, uint32_t number, char *line, size_t length,
	bool in_flight)
{
	struct prefix *p = data;

	if (!p->second) {
		if (in_flight)
			return true;
		p->last[client] = number;
		p->lines++;
	} else if ((int64_t)number <= p->last[client]) {
		return true;
	}
	json_t *json = json_loadb(line, length, 0, NULL);
	if (!json)
		return false;
	if (p->second)
		blank(json);
	kr_line_strike(json);
	char *text = json_dumps(json, JSON_COMPACT);
	json_decref(json);

	bool fine = text && fprintf(p->out, "%s\n", text) > 0;

	free(text);
	return fine;
}

bool kr_prefix_write(const struct kr_run *run, uint64_t from, FILE *out, uint64_t *lines)
{
	struct prefix p = {.out = out, .last = calloc(run->clients, sizeof *p.last)};
	struct kr_merging merge = {.path = run->path,
		.from = from,
		.slots = run->slots,
		.clients = run->clients,
		.take = take_prefix,
		.data = &p};
	bool fine = p.last != NULL;

	for (uint32_t i = 0; i < run->clients && fine; i++)
		p.last[i] = -1;
	fine = fine && kr_merge(&merge);
	p.second = true;
	fine = fine && kr_merge(&merge);
	free(p.last);
	*lines = p.lines;
	return fine;
}
