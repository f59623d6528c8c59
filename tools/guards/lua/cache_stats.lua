-- KEYS: expiry, statistics. Returns: live entries, hits, misses.
local counts = redis.call('HMGET', KEYS[2], 'hits', 'misses')
local live = redis.call('ZCOUNT', KEYS[1], '(' .. text(now), '+inf')
return {live, tonumber(counts[1] or 0), tonumber(counts[2] or 0)}
