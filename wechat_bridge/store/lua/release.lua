-- Delete the poll lock if its value is what we say, or, where that names only an owner, if it is that owner's.
-- KEYS: lock. ARGV: "owner|generation" or "owner|". Returns 1 when deleted.
local value = redis.call('GET', KEYS[1])
if not value then
  return 0
end
local is_whole_owner = string.sub(ARGV[1], -1) == '|' and string.sub(value, 1, #ARGV[1]) == ARGV[1]
if value == ARGV[1] or is_whole_owner then
  return redis.call('DEL', KEYS[1])
end
return 0
