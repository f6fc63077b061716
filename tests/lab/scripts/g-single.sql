-- Read skew: T1 reads one row before T2 has changed both, and the other one afterwards.
-- setup
create table test (id int primary key, value int);
insert into test (id, value) values (1, 10), (2, 20);

-- transaction T1
select * from test where id = 1;
select * from test where id = 2;

-- transaction T2
select * from test where id = 1;
select * from test where id = 2;
update test set value = 12 where id = 1;
update test set value = 18 where id = 2;

-- the last of each is its commit
-- order T1 T2 T2 T2 T2 T2 T1 T1
