-- Delete the poll lock if its value is, or begins with, what we say.
-- KEYS: lock. ARGV: "owner|generation" or "owner|". Returns 1 when deleted.
local value = redis.call('GET', KEYS[1])
if value and string.sub(value, 1, #ARGV[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
