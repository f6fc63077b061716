/* Parts of the report that concern the anomaly itself. Private to report/. */
#ifndef KR_REPORT_ANOMALY_H
#define KR_REPORT_ANOMALY_H

#include "report/argue.h"
#include "report/report.h"
#include "report/words.h"

/* The anomaly's name without its suffix, and the suffix ("" or "-session" or "-realtime"). */
const char *kr_anomaly_base(const struct kr_history *h, const struct kr_certificate *cert,
	const char **suffix);

/* The name of the last cycle alone, which is that of the anomaly if it is the only one. */
enum kr_cycle_name kr_anomaly_last(const struct kr_history *h, const struct kr_certificate *cert);

/* The plain sentence, without a period. `arg`: the argument of a certificate of several cycles, else NULL. */
void kr_sentence(const struct kr_words *w, const struct kr_level *level, const struct kr_certificate *cert,
	const struct kr_argument *arg);

/* Is the argument more than one chain of steps that ends in a contradiction? */
bool kr_argument_is_involved(const struct kr_argument *arg);

/* Two reads of a key by one transaction that saw different values, which no world explains (two_states.c). */
struct kr_two_states { kr_txn txn; kr_key key; uint32_t first, second; };
bool kr_find_two_states(const struct kr_history *h, const struct kr_level *level,
	const struct kr_certificate *cert, struct kr_two_states *out);
void kr_say_two_states(const struct kr_words *w, const struct kr_two_states *s);     /* the sentence */
/* the lines after "Then:" */
void kr_explain_two_states(const struct kr_words *w, const struct kr_two_states *s);

/* A non-cyclic anomaly: the sentence, and the lines after "Then:". */
void kr_say_operation(const struct kr_words *w, const struct kr_certificate *cert);
void kr_explain_operation(const struct kr_words *w, const struct kr_certificate *cert);

/* What a literal of the argument says: "T1 saw T2's x = 5"; `present`: in the present tense where that
 * differs. */
void kr_say_literal(const struct kr_words *w, const struct kr_argument *arg, uint32_t literal, bool present);

/* "T1 read x = 5" */
void kr_say_sight(const struct kr_words *w, const struct kr_argument_sight *o);

/* No choice of initial values and outcomes explains what was read (unexplained.c): the sentence, and the
 * lines after "Then:". */
bool kr_is_unexplained(const struct kr_certificate *cert); /* no cycle is needed */
void kr_say_unexplained(const struct kr_words *w);
void kr_explain_unexplained(const struct kr_words *w);

/* No order of the changes to keys explains what some operations saw of them, whatever else they saw (torn.c):
 * of one operation, or of several. */
enum kr_torn { KR_TORN_NOT, KR_TORN_ONE, KR_TORN_SEVERAL };
enum kr_torn kr_anomaly_torn(const struct kr_certificate *cert);
void kr_say_torn(const struct kr_words *w, const struct kr_certificate *cert);

/* A replay in the given order that differs (difference.c): the sentence, and the lines after "Then:". */
void kr_say_difference(const struct kr_report *r, const struct kr_words *w);
void kr_explain_difference(const struct kr_report *r, const struct kr_words *w);

/* Explains cycles: the lines after "Then:". */
void kr_explain_cycles(const struct kr_words *w, const struct kr_argument *arg);

/* The lines after "Then:", whatever the certificate. `arg`: as for kr_sentence, but also of a single
 * cycle. */
void kr_explain_argument(const struct kr_report *r, const struct kr_words *w, const struct kr_argument *arg);

/* What the verdict rests on, a line "  NAME: TEXT" each. */
void kr_explain_assumed(const struct kr_report *r, struct kr_str *out);

#endif
