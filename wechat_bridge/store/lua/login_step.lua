-- Go on with a QR login if it still stands at the step we know; every change makes one step more.
-- KEYS: login, logins in progress. ARGV: share_id, id, step, next step at (ms), ring at (ms), state (empty: as it was),
-- number that was judged (empty: none), lifetime (ms) of a login that has ended (0: it goes on).
-- Returns the fields of the login, or nothing when it stands elsewhere.
local known = redis.call('HMGET', KEYS[1], 'id', 'step', 'open', 'number')
if known[1] ~= ARGV[2] or known[2] ~= ARGV[3] or known[3] ~= '1' then
  return {}
end
redis.call('HINCRBY', KEYS[1], 'step', 1)
redis.call('HSET', KEYS[1], 'next_at', ARGV[4])
if ARGV[6] ~= '' then
  redis.call('HSET', KEYS[1], 'state', ARGV[6])
end
if ARGV[7] ~= '' and known[4] == ARGV[7] then
  redis.call('HDEL', KEYS[1], 'number')
end
if ARGV[8] == '0' then
  redis.call('ZADD', KEYS[2], 'XX', ARGV[5], ARGV[1])
else
  redis.call('HSET', KEYS[1], 'open', 0)
  redis.call('PEXPIRE', KEYS[1], ARGV[8])
  redis.call('ZREM', KEYS[2], ARGV[1])
end
return redis.call('HGETALL', KEYS[1])
