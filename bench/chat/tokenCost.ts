import { table } from '../../src/cli/table.ts';
import { median, rangeOf } from '../support/statistics.ts';
import { inParallel, listen, type Target } from './client.ts';
import type { Server } from './servers.ts';
import { type TokenRequest, tokenRequestText } from './tokenRequest.ts';

const STREAMS_AT_ONCE = 20;
const REQUESTS_A_ROUND = 60;
/** Turns of one session, as in {@link file://./firstToken.ts}. */
const TURNS_A_SESSION = 10;
const GAP_MS = 4;
const SHORT_ANSWER: TokenRequest = { tokens: 20, gapMs: GAP_MS };
const LONG_ANSWER: TokenRequest = { tokens: 220, gapMs: GAP_MS };

/** A measured server. */
export interface Contender {
  readonly title: string;
  readonly server: Server;
  readonly target: Target;
}

interface Cost {
  /** CPU time of a request with a short and with a long answer. */
  readonly shortMicroseconds: number;
  readonly longMicroseconds: number;
}

/**
 * CPU time of each server's process over alternating rounds. The long answers' cost divided by their tokens counts; the
 * difference between long and short answers shows how much of it belongs to the tokens.
 */
export async function measureTokenCost(contenders: readonly Contender[], rounds: number): Promise<void> {
  const costs = new Map<Contender, Cost[]>(contenders.map((one) => [one, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (const one of contenders) {
      const shortMicroseconds = await costOf(one, SHORT_ANSWER, `short-${round}`);
      const longMicroseconds = await costOf(one, LONG_ANSWER, `long-${round}`);
      if (round >= 0) costs.get(one)?.push({ shortMicroseconds, longMicroseconds });
    }
  }
  console.log(
    `CPU time of the serving process, ${STREAMS_AT_ONCE} streams at once, a token every ${GAP_MS} ms; aim: callway at most the fastify and openai relay.`,
  );
  console.log(
    table([
      [
        'microseconds',
        `a token of ${LONG_ANSWER.tokens}, all in`,
        'of all rounds',
        'each further token',
        'a request beside its tokens',
      ],
      ...contenders.map((one) => rowOf(one.title, costs.get(one) ?? [])),
    ]),
  );
}

async function costOf({ server, target }: Contender, wish: TokenRequest, run: string): Promise<number> {
  const before = await server.cpuMicroseconds();
  await inParallel(REQUESTS_A_ROUND, STREAMS_AT_ONCE, async (index) => {
    const session = `${run}-${index % (REQUESTS_A_ROUND / TURNS_A_SESSION)}-${index % STREAMS_AT_ONCE}`;
    const heard = await listen(target, tokenRequestText(wish), { headers: { 'x-session-id': session } });
    if (heard.tokens !== wish.tokens) throw new Error(`${heard.tokens} of ${wish.tokens} tokens came`);
  });
  return ((await server.cpuMicroseconds()) - before) / REQUESTS_A_ROUND;
}

function rowOf(title: string, costs: readonly Cost[]): string[] {
  const perToken = costs.map(({ longMicroseconds }) => longMicroseconds / LONG_ANSWER.tokens);
  const further = costs.map(
    ({ shortMicroseconds, longMicroseconds }) =>
      (longMicroseconds - shortMicroseconds) / (LONG_ANSWER.tokens - SHORT_ANSWER.tokens),
  );
  const fixed = costs.map(
    ({ shortMicroseconds }, index) => shortMicroseconds - SHORT_ANSWER.tokens * (further[index] ?? 0),
  );
  return [
    title,
    median(perToken).toFixed(1),
    rangeOf(perToken, 1),
    median(further).toFixed(1),
    median(fixed).toFixed(0),
  ];
}
