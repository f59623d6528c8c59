-- Finds the entries whose key begins with a text, the newest first. KEYS: order.
-- ARGV: prefix of entries, text, how many at most. Returns: their digests.
local found = {}
for _, digest in ipairs(redis.call('ZREVRANGE', KEYS[1], 0, -1)) do
  local key = redis.call('HGET', ARGV[1] .. digest, 'key')
  if key and string.sub(key, 1, #ARGV[2]) == ARGV[2] then
    found[#found + 1] = digest
    if #found >= tonumber(ARGV[3]) then
      break
    end
  end
end
return found
