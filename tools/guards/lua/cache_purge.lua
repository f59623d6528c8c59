-- Removes the entries whose key begins with a text. KEYS: order, expiry.
-- ARGV: prefix of entries, text. Returns: how many live entries were removed.
local removed = 0
for _, digest in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local key = redis.call('HGET', ARGV[1] .. digest, 'key')
  if not key or string.sub(key, 1, #ARGV[2]) == ARGV[2] then
    removed = removed + redis.call('DEL', ARGV[1] .. digest)
    redis.call('ZREM', KEYS[1], digest)
    redis.call('ZREM', KEYS[2], digest)
  end
end
return removed
