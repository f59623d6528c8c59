-- Takes a slot if one is free for this caller, or keeps its place in the queue.
-- KEYS: leases by expiry, queue by arrival, waiters by the time until which they count as alive.
-- ARGV: token, limit, lease in seconds, seconds a waiter may stay silent (0: does not wait).
-- Returns: 1 when the slot is taken, else 0.
local token, limit = ARGV[1], tonumber(ARGV[2])
local lease, patience = tonumber(ARGV[3]), tonumber(ARGV[4])

redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', text(now))
for _, dead in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', text(now))) do
  redis.call('ZREM', KEYS[2], dead)
  redis.call('ZREM', KEYS[3], dead)
end

-- An earlier attempt may have been carried out although its reply was lost.
local mine = redis.call('ZSCORE', KEYS[1], token)
local free = limit - redis.call('ZCARD', KEYS[1])
local place = redis.call('ZRANK', KEYS[2], token)
local ahead = place or redis.call('ZCARD', KEYS[2])
if mine or free > ahead then
  redis.call('ZADD', KEYS[1], text(now + lease), token)
  keep(KEYS[1], lease)
  redis.call('ZREM', KEYS[2], token)
  redis.call('ZREM', KEYS[3], token)
  return 1
end
if patience > 0 then
  if not place then
    redis.call('ZADD', KEYS[2], text(now), token)
  end
  redis.call('ZADD', KEYS[3], text(now + patience), token)
  keep(KEYS[2], patience)
  keep(KEYS[3], patience)
end
return 0
