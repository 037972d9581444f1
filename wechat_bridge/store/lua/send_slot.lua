-- Reserve the next moment at which an account may send, by the clock of Redis.
-- KEYS: slot. ARGV: least ms between two sends, longest wait in ms.
-- Returns ms to wait, and ms since the slot before (-1: long ago). Beyond the longest wait nothing is reserved.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local before = tonumber(redis.call('GET', KEYS[1]) or '-1')
local slot = now
if before >= 0 and before + tonumber(ARGV[1]) > now then
  slot = before + tonumber(ARGV[1])
end
if slot - now <= tonumber(ARGV[2]) then
  redis.call('SET', KEYS[1], slot, 'PX', slot - now + 60000)
end
if before < 0 then
  return {slot - now, -1}
end
return {slot - now, slot - before}
