-- Says that a process is there and takes queries from some queues.
-- KEYS: facts about all processes, then one key per queue. ARGV: process, seconds to be believed,
-- facts as a JSON object. With no seconds the process says that it is about to be gone.
local process, seconds = ARGV[1], tonumber(ARGV[2])
if seconds > 0 then
  local facts = cjson.decode(ARGV[3])
  facts['until'] = math.ceil(now + seconds)
  redis.call('HSET', KEYS[1], process, cjson.encode(facts))
else
  redis.call('HDEL', KEYS[1], process)
end
for position = 2, #KEYS do
  if seconds > 0 then
    redis.call('ZADD', KEYS[position], text(now + seconds), process)
    keep(KEYS[position], seconds)
  else
    redis.call('ZREM', KEYS[position], process)
  end
end
return #KEYS
