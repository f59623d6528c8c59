-- One step of a circuit breaker. KEYS: breaker, set of known names, counter of generations.
-- ARGV: step, name, failure threshold, recovery timeout, time ('' for the server's), token and
-- generation of the permit. Steps: look, admit, success, failure, abandon, reset.
-- Returns: state before, state after, generation, failures, last failure, last change, and for a
-- refused admission the seconds to wait.
local step, name, token, generation = ARGV[1], ARGV[2], ARGV[6], ARGV[7]
local threshold, recovery = tonumber(ARGV[3]), tonumber(ARGV[4])
if ARGV[5] ~= '' then
  now = tonumber(ARGV[5])
end

local LEGAL = {
  ['CLOSED'] = {['OPEN'] = true},
  ['OPEN'] = {['HALF-OPEN'] = true},
  ['HALF-OPEN'] = {['CLOSED'] = true, ['OPEN'] = true},
}
local FIELDS = {'state', 'failures', 'failed', 'changed', 'generation', 'probe', 'probe_until'}
local breaker = {}

local function write(changes)
  local flat = {}
  for field, value in pairs(changes) do
    breaker[field] = value
    flat[#flat + 1] = field
    flat[#flat + 1] = value
  end
  redis.call('HSET', KEYS[1], unpack(flat))
end

local function move(state)
  if not LEGAL[breaker.state][state] then
    error('a breaker that is ' .. breaker.state .. ' cannot become ' .. state)
  end
  -- The new generation makes results of calls admitted before this moment count for nothing.
  local following = redis.call('INCR', KEYS[3])
  write({state = state, changed = text(now), generation = following, probe = '', probe_until = ''})
end

if step == 'reset' then
  redis.call('DEL', KEYS[1])
  redis.call('SREM', KEYS[2], name)
end

for index, value in ipairs(redis.call('HMGET', KEYS[1], unpack(FIELDS))) do
  breaker[FIELDS[index]] = value or nil
end
if not breaker.state then
  breaker = {state = 'CLOSED', failures = 0, failed = '', changed = '', generation = '', probe = ''}
  if step == 'admit' then
    write({state = 'CLOSED', failures = 0, failed = '', changed = text(now), probe = ''})
    write({generation = redis.call('INCR', KEYS[3])})
    redis.call('SADD', KEYS[2], name)
  end
end

local before = breaker.state
if before == 'OPEN' and now >= tonumber(breaker.changed) + recovery then
  move('HALF-OPEN')
end

local wait = ''
local half_open = breaker.state == 'HALF-OPEN'
local current = generation ~= '' and generation == tostring(breaker.generation)
local is_probe = current and half_open and breaker.probe == token
local counts = is_probe or (current and breaker.state == 'CLOSED')

if step == 'admit' then
  if breaker.state == 'OPEN' then
    wait = text(tonumber(breaker.changed) + recovery - now)
  elseif half_open and breaker.probe ~= '' and now < tonumber(breaker.probe_until) then
    -- The probe knows more soon, as a rule long before its time is up.
    wait = text(math.min(1, tonumber(breaker.probe_until) - now))
  elseif half_open then
    write({probe = token, probe_until = text(now + recovery)})
  end
elseif step == 'success' and counts then
  if is_probe then
    move('CLOSED')
  end
  if tonumber(breaker.failures) > 0 then
    write({failures = 0})
  end
elseif step == 'failure' and counts then
  write({failures = tonumber(breaker.failures) + 1, failed = text(now)})
  if is_probe or breaker.failures >= threshold then
    move('OPEN')
  end
elseif step == 'abandon' and half_open and token ~= '' and breaker.probe == token then
  -- By its token alone: who gave up before the admission was answered knows no generation.
  write({probe = '', probe_until = ''})
end

return {
  before, breaker.state, tostring(breaker.generation), tonumber(breaker.failures),
  breaker.failed, breaker.changed, wait,
}
