-- Count a failure in a window that is fixed from its first failure; a "0" left by a success opens a new one.
-- KEYS: counter. ARGV: window in seconds. Returns the count.
local value = redis.call('GET', KEYS[1])
if not value or value == '0' then
  redis.call('SET', KEYS[1], 1, 'EX', ARGV[1])
  return 1
end
return redis.call('INCR', KEYS[1])
