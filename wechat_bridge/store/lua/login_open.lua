-- Begin a QR login unless one from the same server is in progress.
-- KEYS: login, logins in progress. ARGV: share_id, id, server, state, next step at (ms), ring at (ms), lifetime (ms).
-- Returns 1 when it has begun.
local open = redis.call('HMGET', KEYS[1], 'open', 'server')
if open[1] == '1' and open[2] == ARGV[3] then
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'id', ARGV[2], 'server', ARGV[3], 'state', ARGV[4], 'next_at', ARGV[5], 'step', 0, 'open', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[7])
redis.call('ZADD', KEYS[2], ARGV[6], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[7])
return 1
