-- Takes tokens of a bucket. KEYS: bucket. ARGV: capacity, which is also the refill per minute; how
-- many tokens are wanted. Returns: tokens taken, whole tokens left, seconds until the next token.
local capacity = tonumber(ARGV[1])
local wanted = tonumber(ARGV[2])
local per_second = capacity / 60
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at', 'capacity')
local tokens = capacity
if bucket[1] then
  -- What was used stays used when the operator changes the limit.
  tokens = tonumber(bucket[1]) + capacity - tonumber(bucket[3])
  tokens = math.max(0, tokens) + math.max(0, now - tonumber(bucket[2])) * per_second
  tokens = math.min(capacity, tokens)
end
local taken = math.min(wanted, math.floor(tokens))
local wait = 0
if taken >= 1 then
  tokens = tokens - taken
else
  wait = (1 - tokens) / per_second
end
redis.call('HSET', KEYS[1], 'tokens', text(tokens), 'at', text(now), 'capacity', capacity)
-- A full bucket is as good as none.
redis.call('PEXPIRE', KEYS[1], math.ceil((capacity - tokens) / per_second * 1000) + 1)
return {taken, math.floor(tokens), text(wait)}
