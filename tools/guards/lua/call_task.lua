-- One step in the life of a task: a call that was answered before it ran.
-- KEYS: task, its outcome, index of all tasks by the end of their life, their sizes, and for the
-- step finish the uploaded outcome. ARGV: step, then what the step takes.
-- Steps: create, discard, read, cancel, claim, beat, ask, answer, collect, finish. Each says below
-- what it returns.
local task, outcome, index, sizes = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
-- What the run asked its caller for and has no answer to, and the answers it has not seen yet.
local asked, answered = task .. ':asked', task .. ':answered'
-- No task can have this name: the name of each begins with a prefix.
local TOTAL = 'total'

local FIELDS = {
  'owner', 'status', 'reason', 'created', 'updated', 'ttl', 'run', 'again', 'start', 'keep',
  'deadline', 'runner', 'lease', 'attempts', 'note',
}
local known = {}
for position, value in ipairs(redis.call('HMGET', task, unpack(FIELDS))) do
  known[FIELDS[position]] = value or ''
end

local function write(changes)
  local flat = {}
  for field, value in pairs(changes) do
    known[field] = tostring(value)
    flat[#flat + 1] = field
    flat[#flat + 1] = value
  end
  redis.call('HSET', task, unpack(flat))
end

-- The tasks of one caller that are not over, by the time at which they will be at the latest.
local function open_tasks(owner)
  return 'cp:tasks:open:' .. owner
end

local function measure(name, bytes)
  local before = tonumber(redis.call('HGET', sizes, name) or '0')
  if bytes then
    redis.call('HSET', sizes, name, bytes)
  else
    redis.call('HDEL', sizes, name)
  end
  return redis.call('HINCRBY', sizes, TOTAL, (bytes or 0) - before)
end

local function forget(name)
  redis.call('ZREM', index, name)
  measure(name, nil)
end

-- Lets the task live for `seconds` more, unless it does so anyway.
local function live(seconds)
  if redis.call('PTTL', task) >= seconds * 1000 then
    return
  end
  redis.call('PEXPIRE', task, math.ceil(seconds * 1000))
  write({ttl = math.ceil((now + seconds - tonumber(known.created)) * 1000)})
  redis.call('ZADD', index, text(now + seconds), task)
  -- Longer than the task, whose size has to be taken off the total afterwards.
  keep(index, seconds + 60)
  keep(sizes, seconds + 60)
end

local function due(seconds)
  write({deadline = text(now + seconds)})
  redis.call('ZADD', open_tasks(known.owner), known.deadline, task)
  keep(open_tasks(known.owner), seconds)
end

-- The call itself; not read with the rest, because it may be long.
local function the_call()
  return redis.call('HGET', task, 'call') or ''
end

local function over()
  return known.status ~= 'working' and known.status ~= 'input_required'
end

local function mine(runner)
  return not over() and known.runner == runner
end

-- Ends the task. Arguments are kept no longer than they are needed.
local function settle(status, reason)
  redis.call('HDEL', task, 'call', 'runner', 'lease', 'note')
  redis.call('DEL', asked, answered)
  write({status = status, reason = reason, updated = text(now)})
  redis.call('ZREM', open_tasks(known.owner), task)
  measure(task, 0)
end

local function is_late()
  return known.runner == '' and tonumber(known.deadline) < now
end

local function may_run_again(most_attempts)
  return known.again == '1' and tonumber(known.attempts) < tonumber(most_attempts)
end

local steps = {}

-- Returns created and the time to live in milliseconds, or why not: crowded (the caller has too
-- many open tasks), full (all tasks together take too much room).
function steps.create(owner, call, run, again, start, kept, most_open, most_bytes)
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', text(now))) do
    forget(name)
  end
  redis.call('ZREMRANGEBYSCORE', open_tasks(owner), '-inf', text(now))
  if redis.call('ZCARD', open_tasks(owner)) >= tonumber(most_open) then
    return {'crowded'}
  end
  local total = tonumber(redis.call('HGET', sizes, TOTAL) or '0')
  if total + #call > tonumber(most_bytes) then
    return {'full'}
  end
  write({
    owner = owner, status = 'working', reason = '', created = text(now), updated = text(now),
    call = call, run = run, again = again, start = start, keep = kept, attempts = 0,
  })
  -- First, so that there is a key whose life can be set.
  measure(task, #call)
  live(tonumber(start) + tonumber(run) + tonumber(kept))
  due(tonumber(start))
  return {text(now), known.ttl}
end

function steps.discard()
  redis.call('ZREM', open_tasks(known.owner), task)
  redis.call('DEL', task, outcome, asked, answered)
  forget(task)
  return {}
end

-- Returns nothing for a stranger; else status, reason, created, updated, time to live, note, then
-- `again` with the seconds a run may take when the task has to be queued again because its worker
-- is gone, or `late` with the call when it was given up just now because no worker came.
function steps.read(owner, most_attempts)
  if known.owner ~= owner then
    return {}
  end
  local news, detail, note = '', '', known.note
  if not over() and is_late() then
    news, detail = 'late', the_call()
    settle('failed', 'late')
  elseif not over() and known.runner ~= '' then
    if tonumber(known.deadline) < now then
      settle('failed', 'overdue')
    elseif tonumber(known.lease) < now and may_run_again(most_attempts) then
      news, detail = 'again', known.run
      redis.call('HDEL', task, 'runner', 'lease', 'note')
      redis.call('DEL', asked, answered)
      write({status = 'working', updated = text(now)})
      due(tonumber(known.start))
    elseif tonumber(known.lease) < now then
      settle('failed', 'lost')
    end
  end
  return {
    known.status, known.reason, known.created, known.updated, known.ttl, note, news, detail,
  }
end

-- Returns nothing for a stranger; over; running; or waiting with the call, which will not run now.
function steps.cancel(owner)
  if known.owner ~= owner then
    return {}
  end
  if over() then
    return {'over'}
  end
  local call, waiting = the_call(), known.runner == ''
  settle('cancelled', '')
  return waiting and {'waiting', call} or {'running'}
end

-- Returns run with the call; busy with the seconds after which its present runner may be presumed
-- dead; late with the call; or over.
function steps.claim(runner, lease, most_attempts)
  if over() then
    return {'over'}
  end
  if is_late() then
    local call = the_call()
    settle('failed', 'late')
    return {'late', call}
  end
  if known.runner ~= '' then
    if tonumber(known.lease) > now then
      return {'busy', text(tonumber(known.lease) - now)}
    end
    if not may_run_again(most_attempts) then
      settle('failed', 'lost')
      return {'over'}
    end
  end
  redis.call('DEL', asked, answered)
  write({
    status = 'working', runner = runner, lease = text(now + tonumber(lease)),
    attempts = tonumber(known.attempts) + 1, updated = text(now),
  })
  due(tonumber(known.run))
  live(tonumber(known.run) + tonumber(known.keep))
  return {'run', the_call()}
end

-- Returns whether the task is still this runner's to run.
function steps.beat(runner, lease, note)
  if not mine(runner) then
    return {'0'}
  end
  if tonumber(known.deadline) < now then
    settle('failed', 'overdue')
    return {'0'}
  end
  write({lease = text(now + tonumber(lease))})
  if note ~= '' and note ~= known.note then
    write({note = note, updated = text(now)})
  end
  return {'1'}
end

local function put(key, name, value)
  redis.call('HSET', key, name, value)
  redis.call('PEXPIRE', key, redis.call('PTTL', task))
end

-- Takes names and requests in turn. Returns whether the task is still this runner's to run.
function steps.ask(runner, ...)
  if not mine(runner) then
    return {'0'}
  end
  local pairs_given = {...}
  for position = 1, #pairs_given, 2 do
    put(asked, pairs_given[position], pairs_given[position + 1])
  end
  write({status = 'input_required', updated = text(now)})
  return {'1'}
end

-- Takes names and responses in turn; those nobody waits for are dropped. Returns nothing for a
-- stranger.
function steps.answer(owner, ...)
  if known.owner ~= owner then
    return {}
  end
  local pairs_given = {...}
  for position = 1, #pairs_given, 2 do
    if redis.call('HDEL', asked, pairs_given[position]) == 1 then
      put(answered, pairs_given[position], pairs_given[position + 1])
    end
  end
  if known.status == 'input_required' and redis.call('HLEN', asked) == 0 then
    write({status = 'working', updated = text(now)})
  end
  return {'1'}
end

-- Returns names and responses in turn once all are there, and nothing before.
function steps.collect(runner)
  if not mine(runner) or known.status ~= 'working' then
    return {}
  end
  local found = redis.call('HGETALL', answered)
  redis.call('DEL', answered)
  return found
end

-- Returns whether the outcome was taken; it is not when the task is over or somebody else's.
function steps.finish(runner, status, bytes)
  local uploaded = KEYS[5]
  if not mine(runner) or redis.call('EXISTS', uploaded) == 0 then
    redis.call('DEL', uploaded)
    return {'0'}
  end
  settle(status, '')
  redis.call('RENAME', uploaded, outcome)
  redis.call('PEXPIRE', outcome, redis.call('PTTL', task))
  measure(task, tonumber(bytes))
  return {'1'}
end

return steps[ARGV[1]](unpack(ARGV, 2))
