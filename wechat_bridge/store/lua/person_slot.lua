-- Reserve the next moment at which one person may get a message, by the clock of Redis.
-- KEYS: the reserved moments in ms, in order. ARGV: most a minute, most an hour, longest wait in ms.
-- Returns the wait in ms; where that is more than the longest, nothing is reserved.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local slot = now
local function not_before(count, window_ms)
  local at = tonumber(redis.call('LINDEX', KEYS[1], -count) or '0')
  slot = math.max(slot, at + window_ms)
end
not_before(1, 0)
not_before(tonumber(ARGV[1]), 60000)
not_before(tonumber(ARGV[2]), 3600000)
if slot - now > tonumber(ARGV[3]) then
  return slot - now
end
redis.call('RPUSH', KEYS[1], slot)
redis.call('LTRIM', KEYS[1], -tonumber(ARGV[2]), -1)
redis.call('PEXPIRE', KEYS[1], slot - now + 3600000)
return slot - now
