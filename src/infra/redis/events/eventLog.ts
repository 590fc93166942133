import { unavailable } from '../../../base/errors.ts';
import type { EventFeed } from '../../../events/eventFeed.ts';
import { orUnavailable, type RedisConnection } from '../connection/connection.ts';

/** A client may reconnect after ten minutes; the rest is for clocks and for slow reconnects. */
const EVENTS_TTL_MS = 15 * 60_000;
/**
 * The lifetime of a quiet project's log. A client that reconnects finds its last event, and knows that it has missed
 * none.
 */
const QUIET_LOG_TTL_MS = 60 * 60_000;
/** Ten minutes of 200 busy calls, twice. */
const MAX_BYTES_PER_PROJECT = 64 * 1_048_576;
/** Removed at once when a project has too many bytes. */
const TRIM_EVENTS = 64;

/**
 * KEYS: the project's stream. ARGV: event, channel, ms to keep events, ms to keep a quiet stream, most bytes. Each entry
 * counts the bytes of the project up to it, so that the stream's size is that of its last entry without its first.
 */
const APPEND = `
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local total = (last and tonumber(last[2][4]) or 0) + #ARGV[1]
local time = redis.call('TIME')
local oldest = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[3])
local id = redis.call('XADD', KEYS[1], 'MINID', '~', oldest, '*', 'event', ARGV[1],
  'total', string.format('%.0f', total))
local first = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
if total - tonumber(first[2][4]) > tonumber(ARGV[5]) then
  redis.call('XTRIM', KEYS[1], 'MAXLEN', math.max(1, redis.call('XLEN', KEYS[1]) - ${TRIM_EVENTS}))
end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('PUBLISH', ARGV[2], id .. ' ' .. ARGV[1])
return id`;

/**
 * KEYS: the project's stream. ARGV: event, channel. The event is not kept: its id is the place after the last kept one,
 * with the time in microseconds behind it.
 */
const ANNOUNCE = `
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local time = redis.call('TIME')
local id = (last and last[1] or '0-0') .. '.' .. string.format('%s%06d', time[1], time[2])
redis.call('PUBLISH', ARGV[2], id .. ' ' .. ARGV[1])
return id`;

/** The latest events of each project: a stream in Redis, whose entries are published as well. */
export interface EventLog extends Pick<EventFeed, 'after' | 'has' | 'newest'> {
  /** @returns The event's id. @throws {CallwayError} `redis_unavailable` */
  append(projectId: string, text: string): Promise<string>;
  /** Publishes an event without keeping it. @throws {CallwayError} `redis_unavailable` */
  announce(projectId: string, text: string): Promise<void>;
  /** Removes all events of a project. A client that resumes learns that it has missed some. */
  forget(projectId: string): Promise<void>;
}

export function redisEventLog(redis: RedisConnection): EventLog {
  const { client } = redis;
  /** Scripts go with their text: one that is sent again after an unknown digest would come behind later events. */
  const run = async (script: string, projectId: string, ...args: readonly (string | number)[]) => {
    // A server that stops answering would hold up each event.
    if (!redis.isReady()) throw unavailable('redis');
    return await orUnavailable(client.eval(script, 1, keyOf(projectId), ...args));
  };
  return {
    async append(projectId, text) {
      const channel = channelOf(redis, projectId, 'kept');
      const bounds = [EVENTS_TTL_MS, QUIET_LOG_TTL_MS, MAX_BYTES_PER_PROJECT];
      return String(await run(APPEND, projectId, text, channel, ...bounds));
    },
    async announce(projectId, text) {
      await run(ANNOUNCE, projectId, text, channelOf(redis, projectId, 'interim'));
    },
    async forget(projectId) {
      await orUnavailable(client.del(keyOf(projectId)));
    },
    async after(projectId, id, limit) {
      const entries = await orUnavailable(client.xrange(keyOf(projectId), `(${id}`, '+', 'COUNT', limit));
      return entries.map(([entryId, [, text = '']]) => ({ id: entryId, text }));
    },
    async has(projectId, id) {
      return (await orUnavailable(client.xrange(keyOf(projectId), id, id))).length > 0;
    },
    async newest(projectId) {
      const [newest] = await orUnavailable(client.xrevrange(keyOf(projectId), '+', '-', 'COUNT', 1));
      return newest?.[0] ?? '0-0';
    },
  };
}

/** Pub/sub ignores database numbers, and installations may share a server with one database each. */
export function channelOf(
  { databaseNumber }: RedisConnection,
  projectId: string,
  kind: 'kept' | 'interim',
): string {
  return `callway:events:${databaseNumber}:${projectId}:${kind}`;
}

const keyOf = (projectId: string) => `callway:events:{${projectId}}`;
