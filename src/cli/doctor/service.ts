import { z } from 'zod';

import { reasonOf } from '../reason.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const NAME = 'service';
const TIMEOUT_MILLISECONDS = 5_000;

const readiness = z.object({
  status: z.enum(['ready', 'not_ready', 'draining']),
  dependencies: z.record(z.string(), z.string()),
});

export interface ServiceFinding {
  readonly finding: Finding;
  readonly isRunning: boolean;
}

/** Asks the running service how it is. @see `GET /readyz` */
export async function checkService(url: string, fetchImpl: typeof fetch): Promise<ServiceFinding> {
  let text: string;
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MILLISECONDS);
    text = await (await fetchImpl(`${url}/readyz`, { signal, redirect: 'manual' })).text();
  } catch (error) {
    const message = `does not run at ${url} (${reasonOf(error)})`;
    return { finding: ok(NAME, message), isRunning: false };
  }
  const parsed = readiness.safeParse(parseJson(text));
  if (!parsed.success) {
    const remedy = 'Stop what listens there, or set PORT to another port.';
    return { finding: fail(NAME, `what answers at ${url} is no Callway`, remedy), isRunning: false };
  }
  return { finding: judge(url, parsed.data), isRunning: true };
}

function judge(url: string, { status, dependencies }: z.infer<typeof readiness>): Finding {
  const names = Object.keys(dependencies);
  if (status === 'ready') return ok(NAME, `ready at ${url}; up: ${names.join(', ')}`);
  if (status === 'draining')
    return warn(NAME, `at ${url} is stopping`, 'Start it again once it has stopped.');
  const down = names.filter((name) => dependencies[name] !== 'up');
  return fail(
    NAME,
    `at ${url} is not ready; down: ${down.join(', ')}`,
    'See what is said of these here, and its log.',
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
