-- The gate in front of one engine: who may ask it now, who waits, and in which order those are let in.
-- KEYS: breaker, a hash; slots, waiting and failed, sorted sets: who asks or is called by the end of it, turns by their
--   arrival, turns by their last failure.
-- ARGV: verb, how many may ask at once (0: any number), how many may wait, then what the verb takes.
-- Times are ms by the clock of Redis.
local breaker, slots, waiting, failed = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local verb, limit, most_waiting = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local DAY = 86400000         -- every key lives so long after its last use
local WINDOW = 900000        -- failures further apart than this are not in a row
local CALLED = 10000         -- a turn that was rung may take so long; with a limit its place is kept
local CALL = 'called|'       -- before the turn, where it stands among the slots; holders begin otherwise
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local instant = time[1] * 1000000 + time[2]  -- in us, for what must keep its order
local fields = {'open_until', 'probe', 'probe_until', 'failures', 'failed_at', 'step', 'answered_at'}
local state = {}
for i, value in ipairs(redis.call('HMGET', breaker, unpack(fields))) do
  state[fields[i]] = value or nil
end
local open_until, probe_until = tonumber(state.open_until), tonumber(state.probe_until)
local is_probed = probe_until ~= nil and now < probe_until

local function set(...)
  redis.call('HSET', breaker, ...)
  redis.call('PEXPIRE', breaker, DAY)
end

local function take(member, lifetime)
  redis.call('ZADD', slots, now + lifetime, member)
  redis.call('PEXPIRE', slots, DAY)
end

local function join(turn, arrival)
  if redis.call('ZCARD', waiting) < most_waiting then
    redis.call('ZADD', waiting, 'NX', arrival, turn)
    redis.call('PEXPIRE', waiting, DAY)
  end
end

-- Leases that ran out are free; a turn that did not come though it was rung stands in the line again, early.
local function clear_slots()
  local over = redis.call('ZRANGEBYSCORE', slots, '-inf', now, 'WITHSCORES')
  for i = 1, #over, 2 do
    redis.call('ZREM', slots, over[i])
    if over[i]:sub(1, #CALL) == CALL then
      join(over[i]:sub(#CALL + 1), (tonumber(over[i + 1]) - CALLED) * 1000)
    end
  end
end

local function room()
  if limit == 0 then return math.huge end
  clear_slots()
  return limit - redis.call('ZCARD', slots)
end

-- The turns to ring now. While the engine fails it is the first one only, which stays in the line until it comes.
local function next_turns(most)
  if open_until then
    if now < open_until or is_probed then return {} end
    return redis.call('ZRANGE', waiting, 0, 0)
  end
  local called, free = {}, math.min(room(), most)
  local first = free >= 1 and redis.call('ZPOPMIN', waiting, free) or {}
  for i = 1, #first, 2 do
    called[#called + 1] = first[i]
    take(CALL .. first[i], CALLED)
  end
  return called
end

-- turn, holder, lease. Returns whether it may ask, and whether it must say when it has.
local function admit(turn, holder, lease)
  redis.call('ZREM', slots, CALL .. turn)
  if (open_until and (now < open_until or is_probed)) or room() < 1 then
    join(turn, instant)
    return {0, 0}
  end
  if open_until then set('probe', holder, 'probe_until', now + lease) end
  if limit > 0 then take(holder, lease) end
  redis.call('ZREM', waiting, turn)
  local is_plain = limit == 0 and not open_until and (tonumber(state.failures) or 0) == 0
  return {1, (is_plain and redis.call('EXISTS', waiting) == 0) and 0 or 1}
end

-- Returns how long the gate is shut from now on, when it was shut here; else nil.
local function count_failure(is_probe, first, most_step, most_failures, hold, reason)
  local step = first
  if open_until then
    if not is_probe then
      if hold > 0 and now + hold > open_until then set('open_until', now + hold) end
      return nil
    end
    step = math.min(2 * (tonumber(state.step) or first), most_step)
  else
    local before = tonumber(state.failed_at)
    local count = 1 + (before and now - before < WINDOW and tonumber(state.failures) or 0)
    set('failures', count, 'failed_at', now)
    if count < most_failures and hold == 0 then return nil end
    set('since', now)
  end
  local pause = hold > 0 and hold or step
  open_until = now + pause
  set('open_until', open_until, 'step', step, 'reason', reason)
  return pause
end

-- holder, outcome, turn, most to ring, failures that open, first and longest pause, pause asked for (0: none), reason,
-- whether the turn may wait ('1').
-- Returns is it open, what changed here ('opened', 'closed', ''), is it this turn's own fault, ms until, turns to ring.
local function leave(holder, outcome, turn, most, most_failures, first, most_step, hold, reason, may_wait)
  redis.call('ZREM', slots, holder)
  local is_probe, was_open, pause, is_guilty = state.probe == holder, open_until ~= nil, nil, false
  if is_probe then
    redis.call('HDEL', breaker, 'probe', 'probe_until')
    is_probed = false
  end
  if outcome == 'answered' then
    redis.call('ZREM', failed, turn)
    set('answered_at', instant)
    if is_probe then
      redis.call('HDEL', breaker, 'open_until', 'step', 'since', 'reason')
      open_until = nil
      set('failures', most_failures - 1, 'failed_at', now)  -- on trial: the next failure opens it again
    elseif not was_open then
      set('failures', 0)
    end
  elseif outcome == 'failed' then
    local before, answered_at = redis.call('ZSCORE', failed, turn), tonumber(state.answered_at)
    is_guilty = before and answered_at and answered_at > tonumber(before)
    redis.call('ZADD', failed, instant, turn)
    redis.call('ZREMRANGEBYRANK', failed, 0, -1 - most_waiting)
    redis.call('PEXPIRE', failed, DAY)
    pause = count_failure(is_probe, first, most_step, most_failures, hold, reason)
    if open_until and may_wait == '1' and not is_guilty then join(turn, instant) end
  end
  local ring = pause and redis.call('ZRANGE', waiting, 0, 0) or next_turns(most)
  local change = (pause and not was_open and 'opened') or (was_open and not open_until and 'closed') or ''
  return {open_until and 1 or 0, change, is_guilty and 1 or 0, pause or 0, ring}
end

-- most to ring, then owners that are dead. Frees what those held; returns turns to ring.
local function wake(most, ...)
  clear_slots()
  for _, owner in ipairs({...}) do
    local prefix = owner .. '|'
    for _, holder in ipairs(redis.call('ZRANGE', slots, 0, -1)) do
      if holder:sub(1, #prefix) == prefix then redis.call('ZREM', slots, holder) end
    end
    if state.probe and state.probe:sub(1, #prefix) == prefix then
      redis.call('HDEL', breaker, 'probe', 'probe_until')
      is_probed = false
    end
  end
  return next_turns(most)
end

local a = {unpack(ARGV, 4)}
if verb == 'admit' then return admit(a[1], a[2], tonumber(a[3])) end
if verb == 'wake' then return wake(tonumber(a[1]), unpack(a, 2)) end
if verb == 'leave' then
  return leave(a[1], a[2], a[3], tonumber(a[4]), tonumber(a[5]), tonumber(a[6]), tonumber(a[7]), tonumber(a[8]), a[9], a[10])
end
for _, turn in ipairs(a) do join(turn, instant) end  -- 'join'
return 0
