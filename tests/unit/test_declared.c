/* verify/declared.h: classes that a mechanism declares itself are found by their inequalities, derived anew by the check, told in
 * their own words and read back from JSON. The mechanism here is written as docs/leopard.md says, in this one file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "checkers/leopard.h"
#include "mechanisms/mechanism.h"
#include "report/finding.h"
#include "tests/unit/reading.h"

/* ---- a mechanism: whoever has read a key is waited for by those that change it ---- */

static bool asked(const struct kr_profile *profile) { return profile->reads == KR_READS_TRANSACTION; }

static const struct kr_declared classes[] = {
	{
		.name = "reader not waited for",
		.mechanism = KR_MECH_ME,
		.says = "{1} changed {key} while {0}, which had read it, still ran",
		.asked = asked,
		.cites = KR_CITES_READ | KR_CITES_CHANGE,
		.premise_count = 2,
		.premises = {{{KR_INSTANT_STATEMENT, 0}, {KR_INSTANT_COMMIT, 1}}, {{KR_INSTANT_COMMIT, 1}, {KR_INSTANT_COMMIT, 0}}},
	},
	{.name = NULL},
};

static bool applies(const struct kr_batch *b) { return asked(b->profile); }

static enum kr_status find(struct kr_batch *b)
{
	enum kr_status status = KR_OK;

	for (uint32_t i = 0; i < b->looks.n && !status; i++) {
		const struct kr_look *look = &b->looks.at[i];
		for (uint32_t j = b->version_first.at[look->key.i]; j < b->version_first.at[look->key.i + 1] && !look->own && !look->insert && !status; j++) {
			const struct kr_written *u = &b->versions.at[j];
			if (u->by.txn.i != KR_NONE && u->by.txn.i != look->txn.i && !u->shadow && !look->predicate)
				status = kr_batch_claim(b, &classes[0], (struct kr_suspect){{look->txn, u->by.txn}, {look->op, u->op}, look->key});
		}
	}
	return status ? status : kr_ctx_check(b->ctx);
}

static const struct kr_mechanism kr_mechanism_waiting = {
	.name = "waiting",
	.title = "whoever has read a key is waited for by those that change it",
	.source = "this test",
	.declares = classes,
	.applies = applies,
	.find = find,
};

/* ---- from end to end ---- */

#define TXN(ID, OP, SENT, ANSWERED) "{\"id\": \"" ID "\", \"s\": \"" ID "\", \"ops\": [" OP "], \"end\": [" SENT ", " ANSWERED "]}\n"
#define HEADER "{\"krait\": 1, \"initial\": {\"x\": 0, \"y\": 0}}\n"
#define READER TXN("r", "[\"r\", \"x\", 0, {\"t\": [10, 12]}], [\"r\", \"y\", 0, {\"t\": [50, 51]}]", "60", "61")

struct judged {
	struct kr_findings findings;
	struct kr_batch batch;
	struct kr_batch_options options;
};

static void judge(struct reading *r, const struct kr_mechanism *mechanism, const char *row, struct judged *out)
{
	*out = (struct judged){.options = {.profile = kr_profile_find(row)}};
	out->batch = (struct kr_batch){.ctx = &r->ctx, .mem = &r->ctx.mem, .h = &r->h, .profile = out->options.profile, .options = &out->options, .out = &out->findings};
	kr_findings_init(&out->findings, &r->ctx.mem);
	assert_int_equal(kr_batch_facts(&out->batch, &r->err), KR_OK);
	if (mechanism->applies(&out->batch))
		assert_int_equal(mechanism->find(&out->batch), KR_OK);
}

static void judged_done(struct judged *j)
{
	kr_batch_done(&j->batch);
	kr_findings_done(&j->findings);
}

static enum kr_status check(struct reading *r, const struct judged *j, const char *row)
{
	uint32_t which;

	kr_err_init(&r->err);
	return kr_verify_findings(&r->ctx, &r->h, (struct kr_claims){kr_profile_find(row), NULL, NULL}, &j->findings, &which, &r->err);
}

/* When the writer's commit was sent and answered, and whether that breaks the rule: it lies after the read, before the reader's commit. */
static const struct { const char *sent, *answered; bool found; } commits[] = {
	{"20", "21", true}, {"13", "59", true}, {"12", "21", false}, {"20", "60", false}, {"5", "9", false}, {"70", "71", false},
};

static void inequalities_decide(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(commits); i++) {
		struct reading r;
		struct judged j;
		char text[1000];

		snprintf(text, sizeof text, HEADER READER "{\"id\": \"w\", \"s\": \"w\", \"ops\": [[\"w\", \"x\", 1, {\"t\": [2, 3]}]], \"end\": [%s, %s]}\n", commits[i].sent, commits[i].answered);
		reading_init(&r);
		reading_good(&r, text);
		judge(&r, &kr_mechanism_waiting, "postgresql-rr", &j);
		assert_int_equal(j.findings.list.n, commits[i].found);
		assert_int_equal(check(&r, &j, "postgresql-rr"), KR_OK);
		judged_done(&j);
		judge(&r, &kr_mechanism_waiting, "postgresql-rc", &j); /* whose rows do not ask for it */
		assert_int_equal(j.findings.list.n, 0);
		judged_done(&j);
		reading_done(&r);
	}
}

#define BROKEN HEADER READER TXN("w", "[\"w\", \"x\", 1, {\"t\": [2, 3]}]", "20", "21") TXN("v", "[\"r\", \"y\", 0, {\"t\": [2, 3]}]", "20", "21") \
	TXN("a", "[\"w\", \"x\", 2, {\"t\": [30, 31]}]", "70", "71")

static kr_txn named(const struct reading *r, const char *id)
{
	kr_txn t = {0};

	while (t.i < r->h.txns.n && strcmp(kr_history_value(&r->h, r->h.txns.at[t.i].id)->text, id) != 0)
		t.i++;
	assert_true(t.i < r->h.txns.n);
	return t;
}

/* The check takes nothing from who found it but the declaration. */
static void what_is_not_so_is_refused(void **state)
{
	struct reading r;
	struct judged j;

	(void)state;
	reading_init(&r);
	reading_good(&r, BROKEN);
	judge(&r, &kr_mechanism_waiting, "postgresql-rr", &j);
	assert_int_equal(j.findings.list.n, 1);
	struct kr_finding good = j.findings.list.at[0], *f = &j.findings.list.at[0];
	assert_int_equal(check(&r, &j, "postgresql-rr"), KR_OK);
	assert_int_equal(check(&r, &j, "postgresql-rc"), KR_BAD);
	assert_string_equal(r.err.text, "the profile does not ask for it");
	f->txns[1] = named(&r, "v");
	assert_int_equal(check(&r, &j, "postgresql-rr"), KR_BAD);
	assert_string_equal(r.err.text, "the second one changed nothing of the key, for certain");
	f->txns[1] = named(&r, "a");
	assert_int_equal(check(&r, &j, "postgresql-rr"), KR_BAD);
	assert_string_equal(r.err.text, "one of its instants may not lie before the other");
	*f = good;
	f->ops[0] = 1; /* which read another key */
	assert_int_equal(check(&r, &j, "postgresql-rr"), KR_BAD);
	assert_string_equal(r.err.text, "it has seen nothing of the key that counts");
	*f = good;
	f->mechanism = KR_MECH_FUW;
	assert_int_equal(check(&r, &j, "postgresql-rr"), KR_BAD);
	*f = good;
	f->declared = NULL;
	f->what = KR_FOUND_DECLARED;
	assert_int_equal(check(&r, &j, "postgresql-rr"), KR_BAD);
	judged_done(&j);
	reading_done(&r);
}

static const struct kr_declared *find_declared(const char *name) { return strcmp(name, classes[0].name) == 0 ? &classes[0] : kr_declared_find(name); }

static void it_is_told_and_read_back(void **state)
{
	struct reading r;
	struct judged j;
	struct kr_str text, json;
	struct kr_arena arena;
	struct kr_findings again;
	const char *profile;

	(void)state;
	reading_init(&r);
	reading_good(&r, BROKEN);
	judge(&r, &kr_mechanism_waiting, "postgresql-rr", &j);
	assert_int_equal(j.findings.list.n, 1);
	struct kr_finding_report report = {"t.jsonl", &r.h, kr_profile_find("postgresql-rr"), NULL, &j.findings};
	kr_str_init(&text, &r.ctx.mem);
	kr_report_finding_explain(&report, &j.findings.list.at[0], &text);
	assert_non_null(strstr(kr_str_text(&text), "Then: r's statement was over by 12, before w could commit (20).\n"));
	assert_non_null(strstr(kr_str_text(&text), "      w had committed by 21, before r could commit (60).\n"));
	assert_non_null(strstr(kr_str_text(&text), "However, w changed x while r, which had read it, still ran. postgresql-rr: ME, reader not waited for.\n"));
	kr_str_init(&json, &r.ctx.mem);
	kr_report_finding_json(&report, &j.findings.list.at[0], &json);
	kr_arena_init(&arena, &r.ctx.mem);
	kr_findings_init(&again, &r.ctx.mem);
	assert_true(kr_finding_is(kr_str_text(&json), json.n));
	assert_int_equal(kr_finding_read(&r.h, find_declared, &arena, kr_str_text(&json), json.n, &profile, &again, &r.err), KR_OK);
	assert_string_equal(profile, "postgresql-rr");
	judged_done(&j);
	j = (struct judged){.findings = again};
	assert_ptr_equal(again.list.at[0].declared, &classes[0]);
	assert_int_equal(check(&r, &j, "postgresql-rr"), KR_OK);
	kr_findings_done(&again);
	kr_arena_done(&arena);
	kr_str_done(&text);
	kr_str_done(&json);
	reading_done(&r);
}

/* ---- every instant and fact that a class may name ---- */

static bool always(const struct kr_profile *profile)
{
	(void)profile;
	return true;
}

/* Of T "t" and U "u" below: which of two instants certainly comes first. T has its snapshot in [10, 12], its lock on x from [20, 22] on, commits in
 * [30, 32]; U, which begins in [40, 41], takes its snapshot and its lock in [42, 44] and commits in [50, 52]. */
#define PAIR HEADER "{\"id\": \"t\", \"s\": \"s\", \"begin\": [8, 9], \"ops\": [[\"r\", \"x\", 0, {\"t\": [10, 12]}], [\"w\", \"x\", 1, {\"t\": [20, 22]}]], \"end\": [30, 32]}\n" \
	"{\"id\": \"u\", \"s\": \"s\", \"begin\": [40, 41], \"ops\": [[\"w\", \"x\", 2, {\"t\": [42, 44]}]], \"end\": [50, 52]}\n"

static const struct { enum kr_instant before; uint8_t of; enum kr_instant after; uint8_t in; bool found; int64_t at[2]; } instants[] = {
	{KR_INSTANT_BEGIN, 0, KR_INSTANT_SNAPSHOT, 0, true, {9, 10}},
	{KR_INSTANT_SNAPSHOT, 0, KR_INSTANT_LOCK, 0, true, {12, 20}},
	{KR_INSTANT_LOCK, 0, KR_INSTANT_COMMIT, 0, true, {22, 30}},
	{KR_INSTANT_LOCK, 0, KR_INSTANT_RELEASE, 0, true, {22, 30}},
	{KR_INSTANT_RELEASE, 0, KR_INSTANT_LOCK, 1, true, {32, 42}},
	{KR_INSTANT_COMMIT, 0, KR_INSTANT_BEGIN, 1, true, {32, 40}},
	{KR_INSTANT_STATEMENT, 0, KR_INSTANT_STATEMENT, 1, true, {22, 42}},
	{KR_INSTANT_COMMIT, 1, KR_INSTANT_COMMIT, 0, false, {0}},
	{KR_INSTANT_LOCK, 1, KR_INSTANT_STATEMENT, 1, false, {0}},
	{KR_INSTANT_SEEN, 0, KR_INSTANT_COMMIT, 1, false, {0}},
};

static void instants_lie_where_they_lie(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(instants); i++) {
		const struct kr_declared class = {.name = "order", .mechanism = KR_MECH_FUW, .says = "{0} {1}", .asked = always, .premise_count = 1,
			.premises = {{{instants[i].before, instants[i].of}, {instants[i].after, instants[i].in}}}};
		const struct kr_mechanism none = {.applies = applies, .find = find};
		struct reading r;
		struct judged j;

		reading_init(&r);
		reading_good(&r, PAIR);
		judge(&r, &none, "postgresql-rr", &j);
		j.findings.list.n = 0;
		assert_int_equal(kr_batch_claim(&j.batch, &class, (struct kr_suspect){{named(&r, "t"), named(&r, "u")}, {1, 0}, {0}}), KR_OK);
		assert_int_equal(j.findings.list.n, instants[i].found);
		if (instants[i].found)
			assert_memory_equal(j.findings.list.at[0].at[0], instants[i].at, sizeof instants[i].at);
		assert_int_equal(check(&r, &j, "postgresql-rr"), KR_OK);
		judged_done(&j);
		reading_done(&r);
	}
}

/* What may be cited of t, and of u in front of it or behind it. */
static const struct { unsigned cites; bool turned, holds; } facts[] = {
	{KR_CITES_KEY, false, true},
	{KR_CITES_READ, false, true},       /* t's read of x */
	{KR_CITES_READ, true, false},       /* u's first operation writes */
	{KR_CITES_CHANGE, false, true},
	{KR_CITES_WRITER, false, true},
	{KR_CITES_SESSION, true, true},     /* t stands before u */
	{KR_CITES_SESSION, false, false},
};

static void facts_are_checked(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(facts); i++) {
		const struct kr_declared class = {.name = "fact", .mechanism = KR_MECH_FUW, .says = "{0} {1}", .asked = always, .cites = facts[i].cites};
		struct reading r;
		struct judged j;

		reading_init(&r);
		reading_good(&r, PAIR);
		judge(&r, &(const struct kr_mechanism){.applies = applies, .find = find}, "postgresql-rr", &j);
		j.findings.list.n = 0;
		kr_txn t = named(&r, "t"), u = named(&r, "u");
		struct kr_suspect claim = {{facts[i].turned ? u : t, facts[i].turned ? t : u}, {0, 0}, {0}};
		assert_int_equal(kr_batch_claim(&j.batch, &class, claim), KR_OK);
		assert_int_equal(j.findings.list.n, 1);
		assert_int_equal(check(&r, &j, "postgresql-rr"), facts[i].holds ? KR_OK : KR_BAD);
		judged_done(&j);
		reading_done(&r);
	}
}

/* The names of all classes tell them apart, and every sentence names only what there is. */
static void classes_are_well_formed(void **state)
{
	(void)state;
	for (size_t i = 0; i < kr_mechanism_registry_count; i++)
		for (const struct kr_declared *d = kr_mechanism_registry[i]->declares; d && d->name; d++) {
			enum kr_finding_class known;
			assert_ptr_equal(kr_declared_find(d->name), d);
			assert_false(kr_finding_class_parse(d->name, &known));
			assert_true(d->asked && d->premise_count <= KR_PREMISES);
			for (const char *at = d->says; (at = strchr(at, '{')); at++)
				assert_true(strncmp(at, "{0}", 3) == 0 || strncmp(at, "{1}", 3) == 0 || strncmp(at, "{key}", 5) == 0);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inequalities_decide),
		cmocka_unit_test(what_is_not_so_is_refused),
		cmocka_unit_test(it_is_told_and_read_back),
		cmocka_unit_test(instants_lie_where_they_lie),
		cmocka_unit_test(facts_are_checked),
		cmocka_unit_test(classes_are_well_formed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
