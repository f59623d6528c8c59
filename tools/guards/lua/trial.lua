-- One step in the life of a trial.
-- KEYS: the trial. ARGV: step, seconds to keep it, then what the step needs.
local trial, step, kept = KEYS[1], ARGV[1], tonumber(ARGV[2])

if step == 'open' then
  -- owner, about. Also for one that a Redis started anew has forgotten: what is known stays.
  redis.call('HSETNX', trial, 'began', text(now))
  redis.call('HSETNX', trial, 'state', 'running')
  redis.call('HSET', trial, 'owner', ARGV[3], 'about', ARGV[4], 'beat', text(now))
  keep(trial, kept)
  return 1
end
if redis.call('EXISTS', trial) == 0 then
  return step == 'read' and {} or -1
end
if step == 'beat' then
  -- note. Returns whether somebody wants it ended.
  redis.call('HSET', trial, 'beat', text(now), 'note', ARGV[3])
  keep(trial, kept)
  return redis.call('HEXISTS', trial, 'cancel')
end
if step == 'end' then
  -- state
  redis.call('HSET', trial, 'state', ARGV[3], 'ended', text(now))
  keep(trial, kept)
  return 1
end
-- The others are for its owner alone.
if redis.call('HGET', trial, 'owner') ~= ARGV[3] then
  return step == 'read' and {} or -1
end
if step == 'cancel' then
  if redis.call('HGET', trial, 'state') ~= 'running' then
    return 0
  end
  redis.call('HSET', trial, 'cancel', '1')
  return 1
end
local known = redis.call('HMGET', trial, 'state', 'about', 'note', 'began', 'beat', 'ended', 'cancel')
for place = 1, 7 do
  known[place] = known[place] or ''
end
known[8] = text(now)
return known
