-- Counts the leases that have not run out. KEYS: leases.
return redis.call('ZCOUNT', KEYS[1], '(' .. text(now), '+inf')
