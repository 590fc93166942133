import { pino } from 'pino';
import { afterAll } from 'vitest';

import { startSimulator } from '../../../../src/app/simulator/simulator.ts';
import { phoneInstallation } from '../support/installation.ts';

/** Of all suites in this folder, since a start costs more than most of their tests. */
export const installation = await phoneInstallation();
/** Simulated phones for outbound calls. */
export const carrier = await startSimulator({ logger: pino({ level: 'silent' }) });
afterAll(() => carrier.close());
