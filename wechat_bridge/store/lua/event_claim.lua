-- Claim events, each on its own; who comes second reads what stands there.
-- KEYS: events. ARGV: value of a claim, its lifetime in ms. Returns '' for each that was claimed here, else the value.
local found = {}
for i, key in ipairs(KEYS) do
  if redis.call('SET', key, ARGV[1], 'NX', 'PX', ARGV[2]) then
    found[i] = ''
  else
    found[i] = redis.call('GET', key)
  end
end
return found
