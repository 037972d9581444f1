-- Extend the poll lock if it is still ours, and tell how many doorbells wait in the poll queue.
-- KEYS: lock, poll queue. ARGV: "owner|generation", lifetime in ms. Returns -1 when the lock is not ours.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return -1
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('LLEN', KEYS[2])
