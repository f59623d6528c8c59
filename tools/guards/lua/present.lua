-- How many processes said lately that they take queries from a queue.
-- KEYS: processes by the time until which they are believed to be there.
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. text(now))
return redis.call('ZCARD', KEYS[1])
