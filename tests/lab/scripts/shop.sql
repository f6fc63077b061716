-- Orders take from stock what is there; a clerk counts.
-- setup
CREATE TABLE stock (item INT PRIMARY KEY, amount BIGINT);
INSERT INTO stock VALUES (0, 100), (1, 101), (2, 102), (3, 103);
CREATE TABLE notes (id INT PRIMARY KEY, note BIGINT);

-- transaction order weight=3
SELECT amount FROM stock WHERE item = :key(4);
UPDATE stock SET amount = :value WHERE item = :key; -- what is left
INSERT INTO notes VALUES (:int(1,100000), :value)
   ON CONFLICT DO NOTHING;
-- transaction stocktaking
SELECT item, amount FROM stock;
SELECT count(*) FROM stock --> none
SELECT amount AS what FROM stock WHERE item = :zipf(4,0.9); --> r stock/:key
DELETE FROM notes WHERE id = :int(1,5);
