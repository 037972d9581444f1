-- Mark events as done that are claimed by this value or by nobody; never what somebody else has claimed or done.
-- KEYS: events. ARGV, for each: value of its claim, value when done, lifetime in ms. Returns how many were marked.
local marked = 0
for i, key in ipairs(KEYS) do
  local held = redis.call('GET', key)
  if not held or held == ARGV[3 * i - 2] then
    redis.call('SET', key, ARGV[3 * i - 1], 'PX', ARGV[3 * i])
    marked = marked + 1
  end
end
return marked
