import { z } from 'zod';

import { failureReason } from '../connectionFailure.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const NAME = 'service';
const TIMEOUT_MILLISECONDS = 5_000;

const readiness = z.object({
  status: z.enum(['ready', 'not_ready', 'draining', 'starting', 'migrating']),
  dependencies: z.record(z.string(), z.string()),
});

export interface ServiceFinding {
  readonly finding: Finding;
  readonly isRunning: boolean;
}

/** Checks the running service. @see `GET /readyz` */
export async function checkService(url: string, fetchImpl: typeof fetch): Promise<ServiceFinding> {
  let text: string;
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MILLISECONDS);
    text = await (await fetchImpl(`${url}/readyz`, { signal, redirect: 'manual' })).text();
  } catch (error) {
    const message = `is not running at ${url} (${failureReason(error)})`;
    return { finding: ok(NAME, message), isRunning: false };
  }
  const parsed = readiness.safeParse(parseJson(text));
  if (!parsed.success) {
    const remedy = 'Stop the process that uses the port, or set PORT to another one.';
    return { finding: fail(NAME, `another program responds at ${url}`, remedy), isRunning: false };
  }
  return { finding: toFinding(url, parsed.data), isRunning: true };
}

function toFinding(url: string, { status, dependencies }: z.infer<typeof readiness>): Finding {
  const names = Object.keys(dependencies);
  if (status === 'ready') return ok(NAME, `ready at ${url}; up: ${names.join(', ')}`);
  if (status === 'draining')
    return warn(NAME, `at ${url} is shutting down`, 'Start it again when it has stopped.');
  if (status === 'starting' || status === 'migrating')
    return warn(NAME, `at ${url} is ${status}`, 'Wait until it has started; its log tells the progress.');
  const down = names.filter((name) => dependencies[name] !== 'up');
  return fail(
    NAME,
    `at ${url} is not ready; down: ${down.join(', ')}`,
    'See the checks of these dependencies here, and the service’s log.',
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
