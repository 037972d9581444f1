-- Remove batches of a channel, those that are still there, from the list and from what is counted of it.
-- KEYS: spill, bytes of each channel ("" of all). ARGV: share_id, batches.
for number = 2, #ARGV do
  if redis.call('LREM', KEYS[1], 1, ARGV[number]) == 1 then
    redis.call('HINCRBY', KEYS[2], ARGV[1], -#ARGV[number])
    redis.call('HINCRBY', KEYS[2], '', -#ARGV[number])
  end
end
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HDEL', KEYS[2], ARGV[1])
end
if redis.call('HLEN', KEYS[2]) == 1 then
  redis.call('DEL', KEYS[2])
end
return redis.call('LLEN', KEYS[1])
