/* An attempt as a native trace: its transactions with their times, one that reads everything in the end, and
 * the order of each object's versions. What a transaction wrote last is its version; who aborted has none. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/provoke.h"
#include "lab/tell.h"

enum { LINE = 64 << 10 };

static const char *const statuses[] = {"unknown", "committed", "aborted", "unknown"};

static void add_initial(struct kr_line *line, const struct kr_coo_schedule *s, const struct kr_attempt *a)
{
	const char *comma = "";
	char key[4];

	kr_line_add(line, ",\"initial\":{");
	for (char o = 'd'; o <= 'z'; o++) {
		int64_t value;
		if (!a->used[kr_coo_index(o)] || !kr_coo_initial(s, o, &value))
			continue;
		kr_line_add(line, "%s\"%s\":%" PRId64, comma, kr_object_key(o, key), value);
		comma = ",";
	}
	kr_line_add(line, "},\"universe\":[");
	comma = "";
	for (char o = 'd'; o <= 'z'; o++)
		if (a->used[kr_coo_index(o)]) {
			kr_line_add(line, "%s\"%s\"", comma, kr_object_key(o, key));
			comma = ",";
		}
	kr_line_add(line, "]");
}

static void add_header(struct kr_line *line, const struct kr_runner *r, const struct kl_level *level,
	const struct kr_coo_schedule *s, const struct kr_attempt *a)
{
	char name[128];

	(void)snprintf(name, sizeof name, "%s %s", s->id, s->name);
	kr_line_add(line, "{\"krait\":1,\"name\":");
	kr_line_text(line, name);
	add_initial(line, s, a);
	kr_line_add(line, ",\"time_unit\":\"ns\",\"lab\":{\"driver\":\"%s\",\"level\":\"%s\",\"database\":",
		r->store.driver->name, level->name);
	kr_line_text(line, r->said->version);
	kr_line_add(line, "}}\n");
}

static void add_op(struct kr_line *line, const struct kr_coo_schedule *s, const struct kr_done *step)
{
	char key[4], high[4], found[4], objects[2];
	struct kl_row rows[KR_SEEN];
	struct kl_op op;
	struct kl_result result = {.sent = step->sent,
		.answered = step->answered,
		.found = step->seen[0].there,
		.value = step->seen[0].value,
		.done = step->done,
		.rows = rows};

	(void)kr_step_op(s, &step->op, key, high, &op);
	if (op.kind == KL_RANGE || op.kind == KL_UPDATE) {
		kr_coo_range(step->op.object, objects);
		for (int i = 0; i < KR_SEEN; i++)
			if (step->seen[i].there) {
				struct kl_row *row = &rows[result.row_count++];
				*row = (struct kl_row){.value = step->seen[i].value};
				(void)snprintf(row->key, sizeof row->key, "%s",
					kr_object_key(objects[i], found));
			}
	}
	(void)snprintf(result.code, sizeof result.code, "%s", step->code);
	if (!step->answered_at_all)
		kr_tell_sent(line, &op);
	else if (step->answer != KL_OK)
		kr_tell_failed(line, &op, &result, step->answer != KL_STATEMENT && step->answer != KL_BUG);
	else
		kr_tell_answered(line, &op, &result);
}

/* What has no end, since the store died or something did not come back. */
static void add_end(struct kr_line *line, const struct kr_attempt *a, uint8_t txn)
{
	const struct kr_lab_part *part = &a->parts[txn];
	int64_t last = part->begin[0];

	if (part->outcome != KR_PART_OPEN) {
		kr_line_add(line, "\"end\":[%" PRId64 ",%" PRId64 "]", part->end[0], part->end[1]);
		return;
	}
	for (uint32_t i = 0; i < a->steps_n; i++)
		if (a->steps[i].op.txn == txn && a->steps[i].sent_at_all)
			last = a->steps[i].answered_at_all ? a->steps[i].answered : a->steps[i].sent;
	kr_line_add(line, "\"end\":[%" PRId64 ",null]", last);
}

static void add_transaction(struct kr_line *line, const struct kr_coo_schedule *s, const struct kr_attempt *a,
	uint8_t txn)
{
	const struct kr_lab_part *part = &a->parts[txn];
	const char *comma = "";

	kr_line_add(line, "{\"id\":\"T%d\",\"status\":\"%s\",\"begin\":[%" PRId64 ",%" PRId64 "],", txn,
		statuses[part->outcome], part->begin[0], part->begin[1]);
	add_end(line, a, txn);
	kr_line_add(line, ",\"ops\":[");
	for (uint32_t i = 0; i < a->steps_n; i++) {
		const struct kr_done *step = &a->steps[i];
		size_t before = line->n;

		if (step->op.txn != txn || !step->sent_at_all || step->op.kind >= KR_COO_COMMIT)
			continue;
		kr_line_add(line, "%s", comma);
		add_op(line, s, step);
		if (line->n > before + strlen(comma))
			comma = ",";
		else
			line->n = before;
	}
	kr_line_add(line, "]}\n");
}

static void add_final(struct kr_line *line, const struct kr_attempt *a)
{
	const char *comma = "";
	char key[4];

	kr_line_add(line,
		"{\"id\":\"final\",\"begin\":[%" PRId64 ",%" PRId64 "],\"end\":[%" PRId64 ",%" PRId64
		"],\"ops\":[",
		a->final_begin[0], a->final_begin[1], a->final_end[0], a->final_end[1]);
	for (char o = 'd'; o <= 'z'; o++) {
		const struct kr_shown *seen = &a->final[kr_coo_index(o)];
		if (!a->used[kr_coo_index(o)])
			continue;
		kr_line_add(line, "%s[\"r\",\"%s\",", comma, kr_object_key(o, key));
		if (seen->there)
			kr_line_add(line, "%" PRId64 "]", seen->value);
		else
			kr_line_add(line, "null]");
		comma = ",";
	}
	kr_line_add(line, "]}\n");
}

/* Who wrote a version that was installed, in their order: once each, by the last. */
static void add_order(struct kr_line *line, const struct kr_attempt *a, char object, bool buffered)
{
	uint32_t versions[KR_STEPS], n = kr_versions_find(a, object, buffered, versions);
	const char *comma = "";
	char key[4];

	if (n == 0)
		return;
	kr_line_add(line, "{\"version_order\":\"%s\",\"writers\":[", kr_object_key(object, key));
	for (uint32_t v = 0; v < n; v++) {
		uint8_t txn = a->steps[versions[v]].op.txn;
		bool last = a->parts[txn].outcome == KR_PART_COMMITTED;

		for (uint32_t w = v + 1; w < n; w++)
			last = last && a->steps[versions[w]].op.txn != txn;
		if (!last)
			continue;
		kr_line_add(line, "%s\"T%d\"", comma, txn);
		comma = ",";
	}
	kr_line_add(line, "]}\n");
}

char *kr_attempt_trace(const struct kr_runner *r, const struct kl_level *level,
	const struct kr_coo_schedule *s, const struct kr_attempt *a)
{
	struct kr_line line = {.at = malloc(LINE), .size = LINE};

	if (!line.at)
		return NULL;
	add_header(&line, r, level, s, a);
	for (uint8_t t = 1; t <= KR_COO_TXNS; t++)
		if (a->parts[t].began)
			add_transaction(&line, s, a, t);
	if (a->progress == KR_FINISHED && !a->stuck) {
		add_final(&line, a);
		for (char o = 'd'; o <= 'z'; o++)
			add_order(&line, a, o, kr_is_buffered(r, level));
	}
	line.at[line.n] = '\0';
	if (!line.full)
		return line.at;
	free(line.at);
	return NULL;
}
