-- Take the poll lock unless it is held. The doorbell that led here has arrived; its marker is now the taker's, so that
-- nobody rings before the ledger knows who polls, and counts for nothing if the taker dies before that.
-- KEYS: lock, doorbell marker. ARGV: "owner|generation", lifetime of the lock in ms, owner, lifetime of the marker in ms.
-- Returns 1 when taken.
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4])
  return 1
end
return 0
