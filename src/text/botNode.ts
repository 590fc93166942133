import type { PathwayNode } from '../agents/pathway/schema/nodeSchema.ts';

/** A day: longer than any call. A bot decides itself what a silence means. */
const NEVER_MS = 86_400_000;

/** The node of a customer's bot, which follows no pathway. */
export const BOT_NODE: PathwayNode = {
  id: 'bot',
  type: 'conversation',
  position: { x: 0, y: 0 },
  data: { title: 'Bot', prompt: '', tools: [], silence: { afterMs: NEVER_MS, hangupAfter: 0 } },
};

/** The digits, each of which is an entry by itself. */
export const DTMF_DIGITS: readonly string[] = [...'0123456789*#ABCD'];
