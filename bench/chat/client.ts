import { Agent, request as send } from 'node:http';

import { TOKEN_ON_THE_WIRE } from './tokenRequest.ts';

/** Where to request completions, with which key. */
export interface Target {
  /** Up to `/chat/completions`. */
  readonly baseUrl: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A streamed answer as its client saw it; times in milliseconds. */
export interface Heard {
  readonly firstTokenMs: number;
  /** Between the arrivals of two chunks with tokens. */
  readonly gapsMs: readonly number[];
  readonly tokens: number;
  /** All received text. */
  readonly text: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

/**
 * Requests a streamed completion, and records when its parts arrive.
 *
 * @param mark - The start of a token's content in the stream.
 * @throws {Error} When the response is not 200, or has no token.
 */
export function listen(
  target: Target,
  words: string,
  more: { readonly headers?: Readonly<Record<string, string>>; readonly mark?: string } = {},
): Promise<Heard> {
  const { headers = {}, mark = TOKEN_ON_THE_WIRE } = more;
  const body = JSON.stringify({
    model: 'any',
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: 'user', content: words }],
  });
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const request = send(
      `${target.baseUrl}/chat/completions`,
      {
        method: 'POST',
        agent,
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          ...target.headers,
          ...headers,
        },
      },
      (response) => {
        const arrivals: number[] = [];
        let tokens = 0;
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => {
          const count = piece.split(mark).length - 1;
          text += piece;
          if (count === 0) return;
          tokens += count;
          arrivals.push(performance.now());
        });
        response.on('error', reject);
        response.on('end', () => {
          const [first] = arrivals;
          if (response.statusCode !== 200 || first === undefined) {
            reject(new Error(`answered ${response.statusCode}: ${text.slice(0, 500)}`));
            return;
          }
          const gapsMs = arrivals.slice(1).map((at, index) => at - (arrivals[index] ?? at));
          resolve({ firstTokenMs: first - began, gapsMs, tokens, text });
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

/** Closes idle connections. */
export function closeConnections(): void {
  agent.destroy();
}

/** Runs jobs, this many at a time. */
export async function inParallel(
  jobs: number,
  atOnce: number,
  run: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < jobs) {
      const index = next;
      next += 1;
      await run(index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, jobs) }, worker));
}
