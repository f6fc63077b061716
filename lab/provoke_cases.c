/* The cases of `krait-lab provoke`: Coo's, and those that the operands name. A word is the name of a built-in
 * case, or the beginning of several ("21" is 21a and 21b); a spec such as RW0-WCR1; a schedule, if there are
 * blanks in it; else a file of cases. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "cli/output.h"
#include "lab/lab.h"
#include "lab/provoke.h"

static const char *const built_in[] = {
	"01 Dirty Read | W1x1 R2x A1 C2",
	"02 Non-repeatable Read | R1x W2x1 R1x C2 C1",
	"03 Intermediate Read | W1x1 R2x W1x2 C2 C1",
	"04 Intermediate Read Committed | W1x1 R2x C2 W1x2 C1",
	"05 Lost Self Update | W1x1 W2x2 R1x C1 C2",
	"06 Write-read Skew | W1x1 W2y1 R2x R1y C2 C1",
	"07 Write-read Skew Committed | W1x1 W2y1 R2x C2 R1y C1",
	"08 Double-write Skew 1 | W1x1 W2y1 R2x W1y2 C2 C1",
	"09 Double-write Skew 1 Committed | W1x1 W2y1 R2x C2 W1y2 C1",
	"10 Double-write Skew 2 | W1x1 W2y1 W2x2 R1y C1 C2",
	"11 Read Skew | R1x W2y1 W2x1 R1y C2 C1",
	"12 Read Skew 2 | W1x1 R2y R2x W1y1 C1 C2",
	"13 Read Skew 2 Committed | W1x1 R2y R2x C2 W1y1 C1",
	"14 Step RAT | W1x1 W2y1 R2x W3z1 R3y R1z C1 C2 C3",
	"15a Dirty Write | W1x1 W2x2 A1 C2",
	"15b Dirty Write | W1x1 W2x2 C1 C2",
	"16 Full Write | W1x1 W2x2 W1x3 C1 C2",
	"17 Full Write Committed | W1x1 W2x2 C2 W1x3 C1",
	"18a Lost Update | R1x W2x2 W1x1 C1 C2",
	"18b Lost Update | R1x W2x2 W1x1 C2 C1",
	"19 Lost Self Update Committed | W1x1 W2x2 C2 R1x C1",
	"20 Double-write Skew 2 Committed | W1x1 W2y1 W2x2 C2 R1y C1",
	"21a Full-write Skew | W1x1 W2y2 W2x2 W1y1 C1 C2",
	"21b Full-write Skew | W1x1 W2y2 W2x2 W1y1 C2 C1",
	"22 Full-write Skew Committed | W1x1 W2y2 W2x2 C2 W1y1 C1",
	"23a Read-write Skew 1 | R1x W2y2 W2x1 W1y1 C1 C2",
	"23b Read-write Skew 1 | R1x W2y2 W2x1 W1y1 C2 C1",
	"24a Read-write Skew 2 | W1x1 R2y W2x2 W1y1 C1 C2",
	"24b Read-write Skew 2 | W1x1 R2y W2x2 W1y1 C2 C1",
	"25 Read-write Skew 2 Committed | W1x1 R2y W2x2 C2 W1y1 C1",
	"26 Step WAT | W1x1 W2y2 W2x2 W3z3 W3y3 W1z1 C1 C2 C3",
	"27 Non-repeatable Read Committed | R1x W2x1 C2 R1x C1",
	"28 Lost Update Committed | R1x W2x2 C2 W1x1 C1",
	"29 Read Skew Committed | R1x W2y1 W2x1 C2 R1y C1",
	"30 Read-write Skew 1 Committed | R1x W2y2 W2x1 C2 W1y1 C1",
	"31 Write Skew | R1x R2y W2x1 W1y1 C1 C2",
	"32 Write Skew Committed | R1x R2y W2x1 C2 W1y1 C1",
	"33 Step IAT | R1z R2x R3y W1x1 W2y1 W3z1 C1 C2 C3",
	"33b Step IAT | R3y R1x W1x1 R1y W1y1 C1 R2z W2z1 R2x W2x2 C2 R3z C3",
	"33c Step IAT | R1x R2y W3x1 C3 W4y1 C4 R2x C2 R1y C1",
	"33d Step IAT | R1x W2x1 C2 R3x W3y1 C3 R1y C1",
	"33e Step IAT | R2x R2y R1y W1y20 C1 R3x R3y C3 W2x11 C2",
	"14b Step RAT | R4x W1x1 R3y R3x W2y1 R4y C1 C2 C3 C4",
	"p27d phantom delete | Q1a D2x C2 Q1a C1",
	"p27i phantom insert | Q1a I2u1 C2 Q1a C1",
	"p29d read skew delete | Q1a D2x D2y C2 Q1b C1",
	"p29i read skew insert | Q1a I2u1 I2v1 C2 Q1b C1",
	"p14d step rat delete | D1x D2y Q2a D3z Q3b Q1c C1 C2 C3",
	"p14i step rat insert | I1u1 I2v1 Q2a I3w1 Q3b Q1c C1 C2 C3",
	"p31i write skew insert | Q1a Q2b I1v1 I2u1 C1 C2",
	"p31o overdraft | Q1a Q2a W1x1 W2u1 C1 C2 | x=5 u=5",
	"p33d step iat delete | Q1c Q2a Q3b D1x D2y D3z C1 C2 C3",
	"p33i step iat insert | Q1c Q2a Q3b I1u1 I2v1 I3w1 C1 C2 C3",
};

const char *kr_object_key(char object, char out[4])
{
	static const char pairs[] = "xuyvzw"; /* each second one is the neighbour of the first */
	const char *at = strchr(pairs, object);
	bool second = at && (at - pairs) % 2 == 1;

	(void)snprintf(out, 4, "%c%s", second ? at[-1] : object, second ? (char[2]){object, '\0'} : "");
	return out;
}

void kr_lab_cases_done(struct kr_mem *mem, struct kr_lab_cases *cases)
{
	for (uint32_t i = 0; i < cases->n; i++)
		kr_coo_schedule_done(mem, &cases->at[i]);
	kr_vec_done(mem, cases);
}

static int say(const struct kr_err *err, const char *file)
{
	if (err->status == KR_NOMEM)
		return kr_fail("out of memory");
	if (file)
		return kr_usage("%s:%" PRIu32 ":%" PRIu32 ": %s", file, err->line, err->column, err->text);
	return kr_usage("%s", err->text);
}

static int keep(struct kr_mem *mem, struct kr_coo_schedule *s, struct kr_lab_cases *out)
{
	if (s->ops.n > KR_STEPS || out->n == KR_CASES_MOST) {
		int status = kr_usage("case '%s': found %" PRIu32 " operations in case %" PRIu32
				      ", expected at most %d, in at most %d cases",
			s->id, s->ops.n, out->n + 1, KR_STEPS, KR_CASES_MOST);

		kr_coo_schedule_done(mem, s);
		return status;
	}
	if (!s->id[0])
		(void)snprintf(s->id, sizeof s->id, "%" PRIu32, out->n + 1);
	if (kr_vec_push(mem, out, *s))
		return KR_EXIT_SATISFIED;
	kr_coo_schedule_done(mem, s);
	return kr_fail("out of memory");
}

static int take_text(struct kr_mem *mem, const char *text, const char *file, uint32_t line,
	struct kr_lab_cases *out)
{
	struct kr_coo_schedule s;
	struct kr_err err;

	kr_err_init(&err);
	if (kr_coo_parse(mem, text, line, &s, &err))
		return say(&err, file);
	return keep(mem, &s, out);
}

static int take_spec(struct kr_mem *mem, const char *spec, struct kr_lab_cases *out)
{
	struct kr_coo_schedule s;
	struct kr_err err;

	kr_err_init(&err);
	if (kr_coo_generate(mem, spec, &s, &err))
		return say(&err, NULL);
	return keep(mem, &s, out);
}

static bool is_blank(const char *line) { return line[strspn(line, " \t\r\n")] == '\0'; }

static int take_file(struct kr_mem *mem, const char *path, struct kr_lab_cases *out)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t cap = 0;
	uint32_t number = 0;
	int status = KR_EXIT_SATISFIED;

	if (!file)
		return kr_usage("'%s' is no case, and as a file: %s", path, strerror(errno));
	while (status == KR_EXIT_SATISFIED && getline(&text, &cap, file) >= 0) {
		number++;
		if (text[strspn(text, " \t")] != '#' && !is_blank(text))
			status = take_text(mem, text, path, number, out);
	}
	free(text);
	(void)fclose(file);
	if (status == KR_EXIT_SATISFIED && out->n == 0)
		return kr_usage("%s: found no case, expected ID NAME | SCHEDULE in a line", path);
	return status;
}

/* Is it the case's id, or, if `shorter`, that without its letter? */
static bool is_named(const char *text, const char *word, bool shorter)
{
	size_t id = strcspn(text, " "), length = strlen(word);

	return length > 0 && strncmp(text, word, length) == 0 &&
		(shorter ? id == length + 1 && word[length - 1] <= '9' : id == length);
}

static int take_named(struct kr_mem *mem, const char *word, bool shorter, struct kr_lab_cases *out)
{
	int status = KR_EXIT_SATISFIED;

	for (size_t i = 0; i < KR_COUNT(built_in) && status == KR_EXIT_SATISFIED; i++)
		if (is_named(built_in[i], word, shorter))
			status = take_text(mem, built_in[i], NULL, 0, out);
	return status;
}

static int take_word(struct kr_mem *mem, const char *word, struct kr_lab_cases *out)
{
	static const char *const kinds[] = {"WR", "RW", "WW", "WC", "RC"};
	uint32_t before = out->n;
	int status = take_named(mem, word, false, out);

	if (status == KR_EXIT_SATISFIED && out->n == before)
		status = take_named(mem, word, true, out);
	if (status != KR_EXIT_SATISFIED || out->n > before)
		return status;
	if (strpbrk(word, " |"))
		return take_text(mem, word, "schedule", 1, out);
	for (size_t i = 0; i < KR_COUNT(kinds); i++)
		if (strncmp(word, kinds[i], 2) == 0 && strchr(word, '-'))
			return take_spec(mem, word, out);
	return take_file(mem, word, out);
}

/* ---- random cycles ---- */

static bool take_edges(const struct kr_args *args, unsigned *least, unsigned *most)
{
	const char *text = kr_args_value(args, "edges");
	int length = 0;

	if (!text ||
		(sscanf(text, "%u..%u%n", least, most, &length) == 2 && !text[length] && *least >= 2 &&
			*least <= *most && *most <= KR_COO_EDGES))
		return true;
	kr_usage("option '--edges': found '%s', expected A..B, from 2 to %d", text, KR_COO_EDGES);
	return false;
}

static int take_cycles(const struct kr_args *args, uint64_t count, struct kr_lab_cases *out)
{
	unsigned least = 3, most = 5;
	uint64_t objects = 3, seed = 1;
	char spec[KR_COO_EDGES * 5];
	struct kr_rng rng;
	int status = KR_EXIT_SATISFIED;

	if (!take_edges(args, &least, &most) || !kr_args_integer(args, "objects", 9, &objects) ||
		!kr_args_integer(args, "seed", UINT32_MAX, &seed))
		return KR_EXIT_USAGE;
	if (objects == 0)
		return kr_usage("option '--objects': found 0, expected 1 to 9");
	kr_rng_init(&rng, seed);
	for (uint64_t i = 0; i < count && status == KR_EXIT_SATISFIED; i++) {
		kr_coo_random_spec(&rng, least, most, (uint32_t)objects, spec);
		status = take_spec(args->mem, spec, out);
	}
	return status;
}

static int take_all(struct kr_mem *mem, struct kr_lab_cases *out)
{
	int status = KR_EXIT_SATISFIED;

	for (size_t i = 0; i < KR_COUNT(built_in) && status == KR_EXIT_SATISFIED; i++)
		status = take_text(mem, built_in[i], NULL, 0, out);
	return status;
}

int kr_lab_cases_take(const struct kr_args *args, struct kr_lab_cases *out)
{
	uint64_t cycles = 0;
	int status = KR_EXIT_SATISFIED;

	*out = (struct kr_lab_cases){0};
	if (!kr_args_integer(args, "cycles", KR_CASES_MOST, &cycles))
		return KR_EXIT_USAGE;
	if (cycles > 0)
		status = take_cycles(args, cycles, out);
	else if (kr_args_has(args, "edges") || kr_args_has(args, "objects") || kr_args_has(args, "seed"))
		return kr_usage("options '--edges', '--objects' and '--seed' go with '--cycles'");
	for (uint32_t i = 0; i < args->operands.n && status == KR_EXIT_SATISFIED; i++)
		status = take_word(args->mem, args->operands.at[i], out);
	return status != KR_EXIT_SATISFIED || out->n > 0 ? status : take_all(args->mem, out);
}
