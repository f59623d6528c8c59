-- Looks an entry up and counts a hit or a miss; one that has expired is removed.
-- KEYS: entry, order, expiry, statistics. ARGV: digest of the key.
-- Returns: the time, then for a hit the key, value, creation, expiry, tokens and hits.
local entry = redis.call('HMGET', KEYS[1], 'key', 'value', 'created', 'expires', 'tokens')
if entry[1] and now < tonumber(entry[4]) then
  redis.call('HINCRBY', KEYS[4], 'hits', 1)
  local hits = redis.call('HINCRBY', KEYS[1], 'hits', 1)
  return {text(now), entry[1], entry[2], entry[3], entry[4], tonumber(entry[5]), hits}
end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('HINCRBY', KEYS[4], 'misses', 1)
return {text(now)}
