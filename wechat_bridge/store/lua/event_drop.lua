-- Forget events whose value is still the one that is told, so that the same may come again.
-- KEYS: events. ARGV: the value of each. Returns how many were forgotten.
local forgotten = 0
for i, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[i] then
    forgotten = forgotten + redis.call('DEL', key)
  end
end
return forgotten
