-- Take a channel off the list of those that have a spill, unless it has one.
-- KEYS: spill, list of channels. ARGV: share_id.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return redis.call('SREM', KEYS[2], ARGV[1])
end
return 0
