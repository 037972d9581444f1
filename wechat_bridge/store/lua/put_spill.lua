-- Keep a batch of a channel, unless there is no room for it. Returns 1 when it is kept.
-- KEYS: spill, list of channels, bytes of each channel ("" of all).
-- ARGV: share_id, batch, most batches and most bytes of a channel, most bytes of all.
local bytes = #ARGV[2]
local channel = tonumber(redis.call('HGET', KEYS[3], ARGV[1]) or 0) + bytes
local all = tonumber(redis.call('HGET', KEYS[3], '') or 0) + bytes
if redis.call('LLEN', KEYS[1]) >= tonumber(ARGV[3]) or channel > tonumber(ARGV[4]) or all > tonumber(ARGV[5]) then
  return 0
end
redis.call('RPUSH', KEYS[1], ARGV[2])
redis.call('SADD', KEYS[2], ARGV[1])
redis.call('HSET', KEYS[3], ARGV[1], channel, '', all)
return 1
