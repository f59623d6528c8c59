-- Seconds since the epoch by the server's clock, on which all processes agree.
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000

-- A time or span as text: Lua's own conversion of a number keeps too few digits.
local function text(number)
  return string.format('%.6f', number)
end

-- Lets a key live for at least `seconds` more; never cuts the life another process gave it.
local function keep(key, seconds)
  local milliseconds = math.ceil(seconds * 1000)
  if redis.call('PTTL', key) < milliseconds then
    redis.call('PEXPIRE', key, milliseconds)
  end
end

