-- Stores an entry; the space then holds at most so many, the oldest inserted make room.
-- KEYS: entry, order, expiry, statistics. ARGV: digest, prefix of entries, key, value, seconds to
-- live, tokens, most entries.
local digest, prefix = ARGV[1], ARGV[2]
local lifetime, most = tonumber(ARGV[5]), tonumber(ARGV[7])

local function drop(gone)
  redis.call('DEL', prefix .. gone)
  redis.call('ZREM', KEYS[2], gone)
  redis.call('ZREM', KEYS[3], gone)
end

drop(digest)
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', text(now), 'LIMIT', 0, 500)) do
  drop(gone)
end
local surplus = redis.call('ZCARD', KEYS[2]) + 1 - most
if surplus > 0 then
  for _, gone in ipairs(redis.call('ZRANGE', KEYS[2], 0, surplus - 1)) do
    drop(gone)
  end
end
redis.call(
  'HSET', KEYS[1], 'key', ARGV[3], 'value', ARGV[4], 'created', text(now),
  'expires', text(now + lifetime), 'tokens', ARGV[6], 'hits', 0
)
redis.call('PEXPIRE', KEYS[1], math.ceil(lifetime * 1000))
redis.call('ZADD', KEYS[2], redis.call('HINCRBY', KEYS[4], 'inserted', 1), digest)
redis.call('ZADD', KEYS[3], text(now + lifetime), digest)
keep(KEYS[2], lifetime)
keep(KEYS[3], lifetime)
return 0
