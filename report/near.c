/* What nobody wrote may have been written under a name, or as a value, that looks the same: 1 and "1", 1 and
 * 1.0; as the whole value of a key that was read as a list or set; or is no value at all, such as the dots of
 * a printer. The first in file order is told. Cost: the operations of the history. */
#include "report/near.h"

#include <stdlib.h>
#include <string.h>

#include "frontend/model/operation.h"

/* The number that it is, or that a text says. */
static bool number_of(const struct kr_operand *o, double *out)
{
	char text[32], *end;

	if (o->type == KR_VALUE_INT || o->type == KR_VALUE_REAL) {
		*out = o->type == KR_VALUE_INT ? (double)o->integer : o->real;
		return true;
	}
	if (o->type != KR_VALUE_STRING || o->text.length == 0 || o->text.length >= sizeof text)
		return false;
	memcpy(text, o->text.text, o->text.length);
	text[o->text.length] = '\0';
	*out = strtod(text, &end);
	return *end == '\0';
}

static bool looks_the_same(const struct kr_operand *a, const struct kr_operand *b)
{
	double x, y;

	return !kr_operand_equal(a, b) && number_of(a, &x) && number_of(b, &y) && x >= y && x <= y;
}

struct near {
	const struct kr_history *h;
	kr_key key;
	struct kr_operand value; /* that nobody wrote to it */
	bool element;
};

enum likeness { UNLIKE, OTHER_VALUE, OTHER_KEY, WHOLE };

static enum likeness compare(const struct near *n, const struct kr_write *write)
{
	struct kr_operand name = kr_operand_of_value(n->h, n->h->keys.at[n->key.i].name),
			  other = kr_operand_of_value(n->h, n->h->keys.at[write->key.i].name);
	struct kr_operand value = kr_operand_of_value(n->h, write->value);
	bool same = kr_operand_equal(&value, &n->value);

	if (write->key.i == n->key.i)
		return looks_the_same(&value, &n->value)             ? OTHER_VALUE
			: same && n->element && write->how == KR_SET ? WHOLE
								     : UNLIKE;
	return same && looks_the_same(&name, &other) ? OTHER_KEY : UNLIKE;
}

static enum likeness find(const struct near *n, kr_txn *writer, kr_op *op, struct kr_write *write)
{
	for (writer->i = 0; writer->i < n->h->txns.n; writer->i++) {
		const struct kr_transaction *txn = &n->h->txns.at[writer->i];
		for (op->i = txn->op_first; op->i < txn->op_first + txn->op_count; op->i++) {
			for (uint32_t i = 0; kr_write_at(n->h, &n->h->ops.at[op->i], i, write); i++) {
				enum likeness like = compare(n, write);
				if (like != UNLIKE)
					return like;
			}
		}
	}
	return UNLIKE;
}

static void add_value(const struct kr_words *w, kr_value value)
{
	const struct kr_value_entry *e = kr_history_value(w->h, value);

	kr_history_print_value(w->h, value, KR_WORDS_VALUE, w->out);
	kr_str_add(w->out,
		e->type == KR_VALUE_STRING         ? ", a string"
			: e->type == KR_VALUE_REAL ? ", a real number"
			: e->type == KR_VALUE_INT  ? ", an integer"
						   : "");
}

void kr_say_near(const struct kr_words *w, kr_key k, const struct kr_operand *value, bool element)
{
	static const char dots[] = "...";
	struct near near = {w->h, k, *value, element};
	struct kr_write write;
	kr_txn writer;
	kr_op op;

	if (value->type == KR_VALUE_STRING && value->text.length == strlen(dots) &&
		memcmp(value->text.text, dots, strlen(dots)) == 0) {
		kr_str_add(w->out, " (a printer's dots, perhaps, for what it left out)");
		return;
	}
	enum likeness like = find(&near, &writer, &op, &write);
	if (like == UNLIKE)
		return;
	kr_words_mention(w, op);
	kr_str_add(w->out, "; ");
	kr_words_txn(w, writer);
	kr_str_add(w->out, write.how == KR_ADD ? " added " : " wrote ");
	if (like == OTHER_KEY) {
		kr_str_add(w->out, "it to key ");
		add_value(w, w->h->keys.at[write.key.i].name);
	} else {
		add_value(w, write.value);
		kr_str_add(w->out, like == WHOLE ? ", as the whole value and not as an element" : "");
	}
}
