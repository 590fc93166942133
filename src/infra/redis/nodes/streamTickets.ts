import { createHash } from 'node:crypto';
import { z } from 'zod';

import type { BotTarget, StreamOpening, StreamParty } from '../../../conversation/streams/audioStream.ts';
import { dialectName } from '../../../dialects/index.ts';
import type { StreamTickets } from '../../../streams/streamTickets.ts';
import { orUnavailable, type RedisConnection } from '../connection/connection.ts';

const relayed = z.object({ relayTo: z.string() });
const served = z.object({
  projectId: z.string(),
  sessionId: z.string(),
  dialect: dialectName,
  callId: z.string().optional(),
  slotId: z.string().optional(),
  isAdmitted: z.literal(true).optional(),
  traceparent: z.string().optional(),
  // Written by another node of ours; as large as a session's variables.
  opening: z.custom<StreamOpening>((value) => typeof value === 'object' && value !== null).optional(),
  party: z.custom<StreamParty>((value) => typeof value === 'object' && value !== null).optional(),
  bot: z.custom<BotTarget>((value) => typeof value === 'object' && value !== null).optional(),
  publicUrl: z.string().optional(),
  applicationId: z.string().optional(),
  failedTransfer: z.object({ to: z.string(), reason: z.string(), outcome: z.string() }).optional(),
  visitor: z.object({ tokenId: z.string(), allowedOrigins: z.array(z.string()) }).optional(),
  captions: z.boolean().optional(),
});

/** Single-use tickets: a key for each ticket's digest, deleted by the first read. */
export function redisStreamTickets(redis: RedisConnection): StreamTickets {
  return {
    async issue(ticket, grant, lifetimeMs) {
      await orUnavailable(redis.client.set(keyOf(ticket), JSON.stringify(grant), 'PX', lifetimeMs));
    },
    async redeem(ticket) {
      const text = await orUnavailable(redis.client.getdel(keyOf(ticket)));
      if (text === null) return undefined;
      const grant = z.union([relayed, served]).parse(JSON.parse(text));
      return grant;
    },
  };
}

const keyOf = (ticket: string) => `callway:stream:${createHash('sha256').update(ticket).digest('base64url')}`;
