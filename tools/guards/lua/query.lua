-- One step in the life of a query that workers run for a process that waits for it.
-- KEYS: claim of the query, its reply, all running queries. ARGV: step, id of the query, then what
-- the step takes. The claim is 'run:<runner>' while a worker is at it and lapses when that stops
-- renewing it; 'gone' when nobody wants it any more; 'done' once there was a reply.
-- Steps: claim, beat, tell, finish, cancel, bar. Each says below what it returns.
local claim, reply, running = KEYS[1], KEYS[2], KEYS[3]
local step, id = ARGV[1], ARGV[2]
local holder = redis.call('GET', claim)

local function hold(runner, milliseconds)
  redis.call('SET', claim, 'run:' .. runner, 'PX', milliseconds)
end

-- Whether the query is still this runner's. A claim that lapsed while Redis was away, or while the
-- process was held up, is taken again: nobody else runs a query that was claimed once.
local function ours(runner)
  return not holder or holder == 'run:' .. runner
end

-- claim: runner, lease in ms, what is told about running queries -> 1 when it is the runner's now.
if step == 'claim' then
  -- Its own claim is one whose answer got lost on the way.
  if not ours(ARGV[3]) then
    return 0
  end
  hold(ARGV[3], ARGV[4])
  redis.call('HSET', running, id, ARGV[5])
  return 1
end

-- beat: runner, lease in ms, channel of who waits -> how many listen there; -1: stop.
if step == 'beat' then
  if not ours(ARGV[3]) then
    return -1
  end
  hold(ARGV[3], ARGV[4])
  return redis.call('PUBSUB', 'NUMSUB', ARGV[5])[2]
end

-- tell: runner, what is told about running queries, channel, message -> 1; 0: stop.
if step == 'tell' then
  if not ours(ARGV[3]) then
    return 0
  end
  redis.call('HSET', running, id, ARGV[4])
  if ARGV[6] ~= '' then
    redis.call('PUBLISH', ARGV[5], ARGV[6])
  end
  return 1
end

-- finish: runner, channel, message, seconds to keep it -> 1 when it was wanted.
if step == 'finish' then
  redis.call('HDEL', running, id)
  local wanted = ours(ARGV[3])
  if wanted then
    redis.call('SET', reply, ARGV[5], 'EX', ARGV[6])
    redis.call('SET', claim, 'done', 'EX', ARGV[6])
  end
  redis.call('PUBLISH', ARGV[4], ARGV[5])
  return wanted and 1 or 0
end

-- cancel: seconds to remember it -> 1 when a worker has to be waited for.
if step == 'cancel' then
  redis.call('DEL', reply)
  redis.call('SET', claim, 'gone', 'EX', ARGV[3])
  local runner = holder and string.match(holder, '^run:(.+)$')
  if not runner then
    return 0
  end
  local wake = 'cp:rag:wake:' .. runner
  redis.call('RPUSH', wake, id)
  redis.call('EXPIRE', wake, 10)
  return 1
end

-- bar: seconds to remember it -> 1 when nobody had begun, and nobody will.
if step == 'bar' then
  if holder then
    return 0
  end
  redis.call('SET', claim, 'gone', 'EX', ARGV[3])
  return 1
end

return redis.error_reply('no step ' .. step)
