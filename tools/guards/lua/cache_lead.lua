-- Decides who computes a missing entry. KEYS: entry, lock. ARGV: token, seconds of the lock.
-- Returns: the value if it is there by now, else 1 for the leader and 0 for one who has to wait.
local entry = redis.call('HMGET', KEYS[1], 'value', 'expires')
if entry[1] and now < tonumber(entry[2]) then
  return entry[1]
end
if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', math.ceil(tonumber(ARGV[2]) * 1000)) then
  return 1
end
return 0
