-- Keeps the leader's lock for so many seconds more, or gives it up for 0; only its own.
-- KEYS: lock. ARGV: token, seconds.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], math.ceil(tonumber(ARGV[2]) * 1000))
end
return 0
