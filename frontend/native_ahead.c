/* A ring of batches between one reader and some parsers. The reader fills batches with lines of the source, hands them over, and takes them back in the same order once their lines are
 * parsed; it alone touches the source, the context and its memory. A parser takes the oldest batch that nobody has taken, and parses it; so does the reader when
 * the one that it needs is not parsed yet.
 * jansson's values are made by one thread and read by another, never at once: the batch's state, changed under the lock, orders the two. */
#include "frontend/native_ahead.h"

#include <pthread.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "frontend/native_arena.h"

enum { BATCH_BYTES = 1 << 16, LONG_BYTES = 2 * BATCH_BYTES, AHEAD_SHARE = 8 /* of the memory left: what batches ahead may need */ };
enum { BATCHES_PER_THREAD = 6, THREADS_MOST = 8 /* the reader takes longer than the eighth part of parsing */ };

enum state { UNUSED, FILLED, TAKEN, PARSED };

struct batch {
	enum state state;
	struct kr_str text;
	KR_VEC(struct kr_ahead_line) lines;
	struct kr_json_arena arena; /* the lines' values */
	bool loose;                 /* there are no hooks: each value is freed by itself */
};

struct kr_ahead {
	struct kr_ctx *ctx;
	struct kr_source *source;
	size_t flags, cost;
	enum kr_status end; /* why no more lines come: KR_OK, the source has ended, or its error */
	bool ended;
	struct kr_err err;
	struct batch *ring;
	uint32_t size;                /* of the ring */
	uint64_t filled, taken, read; /* batches so far; read: handed out, the last one still in use */
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	bool stop;
	pthread_t *threads;
	uint32_t nthreads;
};

/* ---- parsers ---- */

static void forget(struct batch *b)
{
	for (uint32_t i = 0; b->loose && i < b->lines.n; i++)
		json_decref(b->lines.at[i].json);
	kr_json_arena_reset(&b->arena);
	kr_vec_clear(&b->lines);
}

static void parse(const struct kr_ahead *a, struct batch *b)
{
	json_error_t error;

	b->loose = !kr_json_arena_enter(&b->arena);
	for (uint32_t i = 0; i < b->lines.n; i++) {
		struct kr_ahead_line *line = &b->lines.at[i];

		line->json = json_loadb(b->text.at + line->at, line->length, a->flags, &error);
	}
	kr_json_arena_leave();
}

/* Takes the oldest batch that nobody has taken, if there is one, and parses it. The lock is held before and after. */
static bool parse_next(struct kr_ahead *a)
{
	if (a->taken == a->filled)
		return false;

	struct batch *b = &a->ring[a->taken++ % a->size];

	b->state = TAKEN;
	pthread_mutex_unlock(&a->lock);
	parse(a, b);
	pthread_mutex_lock(&a->lock);
	b->state = PARSED;
	return true;
}

static void *work(void *data)
{
	struct kr_ahead *a = data;

	pthread_mutex_lock(&a->lock);
	while (!a->stop) {
		if (parse_next(a))
			pthread_cond_signal(&a->done);
		else
			pthread_cond_wait(&a->work, &a->lock);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* ---- the reader ---- */

static bool is_blank(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r' && text[i] != '\n')
			return false;
	return true;
}

static bool fits(const struct kr_ahead *a, size_t length) { return length <= LONG_BYTES || length <= kr_mem_left(&a->ctx->mem) / a->cost; }

/* A long line's memory is not kept for the next one. */
static void give_back(struct kr_ahead *a, struct batch *b)
{
	if (b->text.n <= LONG_BYTES || a->ctx->mem.limit == SIZE_MAX)
		return;
	forget(b);
	kr_json_arena_done(&b->arena);
	kr_str_done(&b->text);
	kr_str_init(&b->text, &a->ctx->mem);
}

static enum kr_status add_line(struct kr_ahead *a, struct batch *b, const char *line, size_t length)
{
	if (is_blank(line, length))
		return KR_OK;
	if (!fits(a, b->text.n + length))
		return KR_NOMEM;
	struct kr_ahead_line ahead = {b->text.n, length, kr_source_line_number(a->source), NULL};

	kr_str_add_bytes(&b->text, line, length);
	return b->text.failed || !kr_vec_push(&a->ctx->mem, &b->lines, ahead) ? KR_NOMEM : KR_OK;
}

/* Fills a batch; whether it has any line. At the end of the source, or at its error, a->ended is set. */
static bool fill(struct kr_ahead *a, struct batch *b)
{
	char *line;
	size_t length;

	forget(b);
	b->text.n = 0;
	while (!a->ended && b->text.n < BATCH_BYTES) {
		a->end = kr_source_line(a->source, &line, &length, &a->err);
		if (!a->end && line)
			a->end = add_line(a, b, line, length);
		a->ended = a->end != KR_OK || !line;
	}
	b->arena.most = b->text.n > LONG_BYTES && a->ctx->mem.limit != SIZE_MAX ? kr_mem_left(&a->ctx->mem) + 1 : 0;
	return b->lines.n > 0;
}

/* Whether another batch may be filled: always one, and more as far as memory goes. */
static bool has_room(const struct kr_ahead *a)
{
	size_t ahead = 0;

	for (uint64_t i = a->read; i < a->filled; i++)
		ahead += a->ring[i % a->size].text.n;
	return ahead == 0 || ahead + BATCH_BYTES <= kr_mem_left(&a->ctx->mem) / a->cost / AHEAD_SHARE;
}

static void fill_all(struct kr_ahead *a)
{
	if (a->read > 0)
		give_back(a, &a->ring[(a->read - 1) % a->size]);
	while (!a->ended && a->filled - a->read < a->size && has_room(a)) { /* `filled` and `read` change in this thread only */
		struct batch *b = &a->ring[a->filled % a->size];

		if (!fill(a, b))
			return;
		pthread_mutex_lock(&a->lock);
		b->state = FILLED;
		a->filled++;
		pthread_cond_signal(&a->work);
		pthread_mutex_unlock(&a->lock);
	}
}

enum kr_status kr_ahead_next(struct kr_ahead *a, struct kr_ahead_batch *out, struct kr_err *err)
{
	*out = (struct kr_ahead_batch){.count = 0};
	fill_all(a); /* all but the batch in use until now, which is `read` - 1 */
	if (a->read == a->filled) {
		if (a->end && err && err->status == KR_OK)
			*err = a->err;
		return a->end;
	}

	struct batch *b = &a->ring[a->read % a->size];

	pthread_mutex_lock(&a->lock);
	while (b->state != PARSED)
		if (!parse_next(a))
			pthread_cond_wait(&a->done, &a->lock);
	pthread_mutex_unlock(&a->lock);
	a->read++;
	*out = (struct kr_ahead_batch){b->text.at, b->lines.at, b->lines.n};
	return KR_OK;
}

/* ---- life ---- */

static void start(struct kr_ahead *a, uint32_t threads)
{
	while (a->nthreads < threads && pthread_create(&a->threads[a->nthreads], NULL, work, a) == 0)
		a->nthreads++;
}

enum kr_status kr_ahead_new(struct kr_ctx *ctx, struct kr_source *source, uint32_t threads, size_t flags, size_t cost, struct kr_ahead **out)
{
	struct kr_ahead *a = kr_mem_alloc(&ctx->mem, 1, sizeof *a);

	if (!a)
		return KR_NOMEM;
	threads = threads < 1 ? 1 : threads > THREADS_MOST ? THREADS_MOST : threads;
	*a = (struct kr_ahead){.ctx = ctx, .source = source, .flags = flags, .cost = cost, .size = BATCHES_PER_THREAD * threads + 1};
	kr_err_init(&a->err);
	pthread_mutex_init(&a->lock, NULL); /* on Linux none of these three can fail */
	pthread_cond_init(&a->work, NULL);
	pthread_cond_init(&a->done, NULL);
	a->ring = kr_mem_alloc(&ctx->mem, a->size, sizeof *a->ring);
	a->threads = kr_mem_alloc(&ctx->mem, THREADS_MOST, sizeof *a->threads);
	for (uint32_t i = 0; a->ring && i < a->size; i++)
		kr_str_init(&a->ring[i].text, &ctx->mem);
	if (a->ring && a->threads)
		start(a, threads);
	if (a->nthreads == 0) {
		kr_ahead_free(a);
		return KR_NOMEM;
	}
	*out = a;
	return KR_OK;
}

void kr_ahead_free(struct kr_ahead *a)
{
	if (!a)
		return;

	struct kr_mem *mem = &a->ctx->mem;

	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_broadcast(&a->work);
	pthread_mutex_unlock(&a->lock);
	for (uint32_t i = 0; i < a->nthreads; i++)
		pthread_join(a->threads[i], NULL);
	for (uint32_t i = 0; a->ring && i < a->size; i++) {
		forget(&a->ring[i]);
		kr_json_arena_done(&a->ring[i].arena);
		kr_vec_done(mem, &a->ring[i].lines);
		kr_str_done(&a->ring[i].text);
	}
	kr_mem_free(mem, a->ring, a->size, sizeof *a->ring);
	kr_mem_free(mem, a->threads, THREADS_MOST, sizeof *a->threads);
	pthread_cond_destroy(&a->done);
	pthread_cond_destroy(&a->work);
	pthread_mutex_destroy(&a->lock);
	kr_mem_free(mem, a, 1, sizeof *a);
}
