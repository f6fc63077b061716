-- MariaDB at REPEATABLE READ: an UPDATE that changes nothing gives no new version of its row, so T1 does not see what it has just
-- written (MDEV-26642).
-- setup
CREATE TABLE t (k INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (0, 0), (1, 1), (2, 2);
-- transaction T1
SELECT * FROM t;
UPDATE t SET v = 10 WHERE k = 0;
UPDATE t SET v = 10 WHERE k = 1;
UPDATE t SET v = 10 WHERE k = 2;
SELECT * FROM t;
-- transaction T2
UPDATE t SET v = 10 WHERE k = 1;
-- order T1 T2 T2 T1 T1 T1 T1 T1
