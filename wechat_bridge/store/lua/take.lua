-- Take the poll lock unless it is held; the doorbell that led here has arrived.
-- KEYS: lock, doorbell marker. ARGV: "owner|generation", lifetime in ms. Returns 1 when taken.
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  redis.call('DEL', KEYS[2])
  return 1
end
return 0
