-- Gives a slot or a place in the queue back and wakes the waiters whose turn it is.
-- KEYS: leases, queue, waiters. ARGV: token, limit, prefix of the processes' wake lists.
for _, key in ipairs(KEYS) do
  redis.call('ZREM', key, ARGV[1])
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', text(now))
local free = tonumber(ARGV[2]) - redis.call('ZCARD', KEYS[1])
if free > 0 then
  for _, waiter in ipairs(redis.call('ZRANGE', KEYS[2], 0, free - 1)) do
    -- A token begins with the identity of the process that made it.
    local list = ARGV[3] .. string.match(waiter, '^[^:]+')
    redis.call('RPUSH', list, waiter)
    redis.call('PEXPIRE', list, 10000)
  end
end
return 0
