import { onTestFinished } from 'vitest';

import { freePort, runSipp, type SippOutcome, type SippRun, untilBound } from '../../../sip/support/sipp.ts';

/** Under load, SIPp gets all the time that it needs. */
const TIMEOUT_SECONDS = 60;

/** A SIPp that waits to be called. */
export interface Callee {
  readonly port: number;
  /** Whether every call went by the scenario. */
  readonly ended: Promise<SippOutcome>;
}

export async function startCallee(scenario: string, more: Partial<SippRun> = {}): Promise<Callee> {
  const localPort = await freePort();
  const ended = runSipp({ scenario, localPort, calls: 1, timeoutSeconds: TIMEOUT_SECONDS, ...more });
  onTestFinished(() => void ended);
  await untilBound(localPort);
  return { port: localPort, ended };
}
