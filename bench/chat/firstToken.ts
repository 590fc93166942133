import { table } from '../../src/cli/table.ts';
import { percentile } from '../support/statistics.ts';
import { listen, type Target } from './client.ts';
import { tokenRequestText } from './tokenRequest.ts';

const WARM_UP_REQUESTS = 150;
/** Turns of one session, so that most of them find it as in a conversation. */
const TURNS_A_SESSION = 10;
const WANTED_ADDED_MS = 6;

export interface FirstTokenTargets {
  readonly direct: Target;
  readonly rawRelay: Target;
  readonly sdkRelay: Target;
  readonly product: Target;
}

/** One request at a time, targets in rotation, so that a busy machine affects all alike. */
export async function measureFirstToken(targets: FirstTokenTargets, requests: number): Promise<void> {
  const words = tokenRequestText({ tokens: 3, gapMs: 0 });
  const names = ['direct', 'rawRelay', 'sdkRelay', 'product', 'productBegins'] as const;
  const times = new Map<(typeof names)[number], number[]>(names.map((name) => [name, []]));
  const headersOf = (name: (typeof names)[number], index: number): Record<string, string> => {
    if (name === 'product') return { 'x-session-id': `talk-${Math.floor(index / TURNS_A_SESSION)}` };
    return name === 'productBegins' ? { 'x-session-id': `fresh-${index}` } : {};
  };
  for (let index = -WARM_UP_REQUESTS; index < requests; index += 1) {
    for (const name of names) {
      const target = targets[name === 'productBegins' ? 'product' : name];
      const { firstTokenMs } = await listen(target, words, { headers: headersOf(name, index) });
      const begins = name === 'product' && index % TURNS_A_SESSION === 0;
      if (index >= 0 && !begins) times.get(name)?.push(firstTokenMs);
    }
  }
  const at = (name: (typeof names)[number], part: number) => percentile(times.get(name) ?? [], part);
  const row = (title: string, name: (typeof names)[number]) => [
    title,
    at(name, 0.5).toFixed(2),
    at(name, 0.95).toFixed(2),
    (at(name, 0.5) - at('rawRelay', 0.5)).toFixed(2),
    (at(name, 0.95) - at('rawRelay', 0.95)).toFixed(2),
  ];
  console.log(
    `Time to the first token, one request at a time; aim: callway at most ${WANTED_ADDED_MS} ms over the raw relay at p50.`,
  );
  console.log(
    table([
      [`${requests} requests each`, 'p50 ms', 'p95 ms', 'over the raw relay, p50', 'p95'],
      row('upstream itself', 'direct'),
      row('raw Node relay', 'rawRelay'),
      row('fastify and openai relay', 'sdkRelay'),
      row('callway, a turn of a session', 'product'),
      row('callway, a new session', 'productBegins'),
    ]),
  );
}
