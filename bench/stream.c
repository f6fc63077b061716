/* Reads a stream, line by line; with a profile, holds it to that, too. Prints CPU seconds, transactions, findings, and the
 * memory that is in use after each hundredth part of the lines but the first ones: bench/stream.py.
 *
 *     stream FILE [PROFILE] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "checkers/leopard.h"
#include "mechanisms/stream.h"

static unsigned long ended, found;

static enum kr_status count(void *data, const struct kr_event *event, struct kr_err *err)
{
	(void)err;
	ended += event->kind == KR_EVENT_END;
	return data ? kr_engine_take(data, event, err) : KR_OK;
}

static enum kr_status count_findings(void *data, const struct kr_history *window, const struct kr_marks *marks, const struct kr_findings *findings)
{
	(void)data, (void)window;
	found += findings->list.n;
	return KR_OK;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct kr_engine_options options = {.sink = {.findings = count_findings}};
	struct kr_engine *engine = NULL;
	struct kr_stream *stream;
	struct kr_ctx ctx;
	struct kr_err err;
	FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	uint32_t number = 0;
	unsigned long next = 100000;

	if (!file)
		return EXIT_FAILURE;
	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	if (argc > 2) {
		options.batch.profile = kr_profile_find(argv[2]);
		if (!options.batch.profile || kr_profile_level(NULL, options.batch.profile, &options.batch.certify, &err) ||
			kr_engine_new(&ctx, &options, &engine, &err))
			return EXIT_FAILURE;
	}
	struct kr_sink sink = {engine, count};
	if (kr_stream_new(&ctx, argv[1], &sink, &stream))
		return EXIT_FAILURE;
	if (engine)
		kr_engine_attach(engine, stream);
	double start = now();
	while ((length = getline(&line, &size, file)) > 0) {
		if (kr_stream_line(stream, line, (size_t)length, ++number, &err)) {
			fprintf(stderr, "line %u: %s\n", number, err.text);
			return EXIT_FAILURE;
		}
		if (ended >= next) {
			printf("at %lu %zu\n", ended, ctx.mem.used);
			next += 100000;
		}
	}
	size_t used = ctx.mem.used;
	if (engine && kr_engine_end(engine, &err))
		return EXIT_FAILURE;
	printf("cpu %.3f\ntxns %lu\nfindings %lu\nused %zu\npeak %zu\nkeys %u\n", now() - start, ended, found, used, ctx.mem.peak,
		kr_stream_history(stream)->keys.n);
	kr_engine_free(engine);
	kr_stream_free(stream);
	free(line);
	return fclose(file) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
