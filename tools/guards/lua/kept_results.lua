-- Makes an uploaded result readable, then drops the oldest until all fit together.
-- KEYS: upload, result, index of results by time, their sizes. ARGV: time to live, size, most in all.
-- Returns: 1, or 0 when the upload is gone.
local ttl, size, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local upload, result, index, sizes = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
-- No result can have this name: the name of each begins with a prefix.
local TOTAL = 'total'

local function forget(key)
  local known = tonumber(redis.call('HGET', sizes, key) or '0')
  redis.call('DEL', key)
  redis.call('ZREM', index, key)
  redis.call('HDEL', sizes, key)
  return redis.call('HINCRBY', sizes, TOTAL, -known)
end

if redis.call('EXISTS', upload) == 0 then
  return 0
end
for _, expired in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', text(now - ttl))) do
  forget(expired)
end
forget(result)
redis.call('RENAME', upload, result)
redis.call('EXPIRE', result, ttl)
redis.call('ZADD', index, text(now), result)
redis.call('HSET', sizes, result, size)
local total = redis.call('HINCRBY', sizes, TOTAL, size)
while total > most and redis.call('ZCARD', index) > 1 do
  total = forget(redis.call('ZRANGE', index, 0, 0)[1])
end
keep(index, ttl)
keep(sizes, ttl)
return 1
