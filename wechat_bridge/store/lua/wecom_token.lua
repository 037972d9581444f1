-- The access token of one app: who has it, who asks for the next, and for how long nobody may ask.
-- KEYS: token, a hash. ARGV: verb, then what the verb takes. Times are ms by the clock of Redis.
local key, verb = KEYS[1], ARGV[1]
local DAY = 86400000           -- the key lives so long after its last change
local RENEWAL_GAP = 15000      -- a token that was renewed because it was refused is not renewed again for so long
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local names = {'token', 'good_until', 'renew_at', 'version', 'stored', 'lease', 'lease_until', 'failures',
  'failure', 'shut_until', 'reason', 'renewed_at'}
local state = {}
for i, value in ipairs(redis.call('HMGET', key, unpack(names))) do
  state[names[i]] = value or nil
end

local function number(name)
  return tonumber(state[name] or '0')
end

local function set(...)
  redis.call('HSET', key, ...)
  redis.call('PEXPIRE', key, DAY)
end

local function drop_token()
  redis.call('HDEL', key, 'token', 'good_until', 'renew_at')
  state.token = nil
end

-- A version grows with every question, also over a loss of all data: it is at least the time.
local function ask(lease)
  local version = math.max(number('version') + 1, now)
  set('version', version, 'lease', version, 'lease_until', now + lease)
  return {'ask', state.token or '', version, state.token and number('good_until') - now or 0, ''}
end

-- token that was refused ('' none), lease. Returns what to do, token, version, ms, reason.
local function look(refused, lease)
  if state.token and now >= number('good_until') then drop_token() end
  if state.token and state.token == refused then
    local left = number('renewed_at') + RENEWAL_GAP - now
    if left > 0 then return {'again', '', 0, left, ''} end
    drop_token()
    set('renewed_at', now)
  end
  local is_shut, is_asked = now < number('shut_until'), now < number('lease_until')
  if state.token and (now < number('renew_at') or is_shut or is_asked) then
    return {'use', state.token, 0, number('good_until') - now, ''}
  end
  if is_shut then return {'shut', '', 0, number('shut_until') - now, state.reason or ''} end
  if is_asked then return {'wait', '', 0, number('lease_until') - now, ''} end
  return ask(lease)
end

local function leave(version)
  if number('lease') == version then
    redis.call('HDEL', key, 'lease', 'lease_until')
    return true
  end
  return false
end

-- version, token, ms for which it is good, ms after which the next is asked for. An older answer changes nothing.
local function store(version, token, good, renew)
  leave(version)
  if version <= number('stored') then return 0 end
  set('token', token, 'good_until', now + good, 'renew_at', now + renew, 'stored', version)
  redis.call('HDEL', key, 'failures', 'failure', 'shut_until', 'reason')
  return 1
end

-- version, kind of failure, first and longest pause, pause asked for (0: none), reason. Returns the pause.
local function fail(version, kind, first, most, hold, reason)
  if not leave(version) then return 0 end
  local failures = state.failure == kind and number('failures') or 0
  local pause = math.max(hold, math.min(first * 2 ^ math.min(failures, 20), most))
  set('failures', failures + 1, 'failure', kind, 'shut_until', now + pause, 'reason', reason)
  return pause
end

if verb == 'look' then return look(ARGV[2], tonumber(ARGV[3])) end
if verb == 'store' then return store(tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])) end
return fail(tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7])
