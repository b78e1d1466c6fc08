-- Takes one token from a bucket. KEYS[1]: the bucket. ARGV: tokens per second, tokens that it holds.
-- Returns 0, or after how many microseconds there will be one. The clock is that of Redis, and may be set back.
local time = redis.call('TIME')
local now = time[1] + time[2] / 1e6
local rate, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local bucket = redis.call('HMGET', KEYS[1], 'level', 'at')
local level, at = burst, now
if bucket[1] and bucket[2] then
  at = math.min(now, tonumber(bucket[2]))
  level = math.min(burst, tonumber(bucket[1]) + (now - at) * rate)
end
local wait = 0
if level >= 1 then
  level = level - 1
else
  wait = math.ceil((1 - level) / rate * 1e6)
end
redis.call('HSET', KEYS[1], 'level', string.format('%.17g', level), 'at', string.format('%.6f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil((burst - level) / rate * 1000) + 1000)
return wait
