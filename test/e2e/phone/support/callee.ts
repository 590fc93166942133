import { runSipp, type SippOutcome, type SippRun, waitUntilBound } from '../../../sip/support/sipp.ts';
import { reservePort } from '../../../support/ports.ts';

/** SIPp gets enough time under load. */
const TIMEOUT_SECONDS = 60;

/** A SIPp that waits for calls. */
export interface Callee {
  readonly port: number;
  /** Whether every call followed the scenario. */
  readonly ended: Promise<SippOutcome>;
}

export async function startCallee(scenario: string, more: Partial<SippRun> = {}): Promise<Callee> {
  const localPort = await reservePort();
  const ended = runSipp({ scenario, localPort, calls: 1, timeoutSeconds: TIMEOUT_SECONDS, ...more });
  await waitUntilBound(localPort);
  return { port: localPort, ended };
}
