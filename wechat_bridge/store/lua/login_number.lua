-- Keep the number that a person submitted for a QR login in progress.
-- KEYS: login. ARGV: id, number. Returns 1 when it was kept.
local known = redis.call('HMGET', KEYS[1], 'id', 'open')
if known[1] == ARGV[1] and known[2] == '1' then
  redis.call('HSET', KEYS[1], 'number', ARGV[2])
  return 1
end
return 0
