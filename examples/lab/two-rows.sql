-- PostgreSQL at REPEATABLE READ and SERIALIZABLE: T2 deletes a row, T1 inserts one with the same key, and sees both.
-- setup
CREATE TABLE t (k INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 2), (2, 3);
-- transaction T1
SELECT * FROM t WHERE k = 1;
INSERT INTO t VALUES (2, 4);
SELECT * FROM t;
-- transaction T2
DELETE FROM t WHERE k = 2;
-- order T1 T2 T2 T1 T1 T1
