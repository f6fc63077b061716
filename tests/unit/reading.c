/* For tests of readers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/unit/reading.h"

void reading_init(struct reading *r)
{
	*r = (struct reading){.folder = "/tmp/krait-unit-XXXXXX"};
	assert_non_null(mkdtemp(r->folder));
	kr_ctx_init(&r->ctx, 0, 0);
}

static void forget(struct reading *r)
{
	if (r->read)
		kr_history_done(&r->h);
	r->read = false;
	assert_int_equal(r->ctx.mem.used, 0);
}

void reading_done(struct reading *r)
{
	char command[128];

	forget(r);
	snprintf(command, sizeof command, "rm -rf '%s'", r->folder);
	assert_int_equal(system(command), 0);
}

void reading_write(struct reading *r, const char *name, const void *data, size_t length)
{
	const char *slash = strchr(name, '/');
	char path[256];

	if (slash) {
		snprintf(path, sizeof path, "%s/%.*s", r->folder, (int)(slash - name), name);
		(void)mkdir(path, 0700);
	}
	snprintf(path, sizeof path, "%s/%s", r->folder, name);

	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

enum kr_status reading_read(struct reading *r, const char *name)
{
	char path[512], prefix[80], message[1024];

	forget(r);
	snprintf(path, sizeof path, "%s%s%s", name[0] == '/' || name[0] == '-' ? "" : r->folder, name[0] == '/' || name[0] == '-' ? "" : "/", name);
	kr_err_init(&r->err);
	r->status = kr_read_trace(&r->ctx, path, &r->options, &r->h, &r->err);
	r->read = r->status == KR_OK;
	assert_int_equal(r->err.status, r->status);
	if (!r->read)
		assert_int_equal(r->ctx.mem.used, 0);
	kr_err_format(&r->err, message, sizeof message);
	snprintf(prefix, sizeof prefix, "%s/", r->folder);
	snprintf(r->message, sizeof r->message, "%s", strncmp(message, prefix, strlen(prefix)) == 0 ? message + strlen(prefix) : message);
	return r->status;
}

void reading_good(struct reading *r, const char *text)
{
	reading_write(r, "t.jsonl", text, strlen(text));
	if (reading_read(r, "t.jsonl") != KR_OK)
		fail_msg("expected a good trace: %s", r->message);
}

static const char *print(struct reading *r, kr_value v, void (*printer)(const struct kr_history *h, kr_value v, struct kr_str *out))
{
	static char texts[8][256];
	static unsigned next;
	char *text = texts[next++ % 8];
	struct kr_str str;

	kr_str_init(&str, &r->ctx.mem);
	printer(&r->h, v, &str);
	snprintf(text, sizeof texts[0], "%s", kr_str_text(&str));
	kr_str_done(&str);
	return text;
}

const char *reading_name(struct reading *r, kr_value v) { return print(r, v, kr_history_print_name); }

const char *reading_key(struct reading *r, kr_key key) { return reading_name(r, r->h.keys.at[key.i].name); }

const char *reading_value(struct reading *r, kr_value v) { return print(r, v, kr_history_json_value); }
