-- Renews leases; one that got lost is added again, because its work is still going on.
-- KEYS: leases. ARGV: lease in seconds, tokens.
local lease = tonumber(ARGV[1])
for index = 2, #ARGV do
  redis.call('ZADD', KEYS[1], text(now + lease), ARGV[index])
end
keep(KEYS[1], lease)
return 0
