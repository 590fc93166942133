import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { callees } from '../scenarios/callees.ts';
import { reservePort } from '../support/ports.ts';
import { requiresSipPeers } from '../support/skips.ts';
import { SDP } from './support/phone.ts';
import { NO_STATE, type Rig, startRig, waitUntilDrained } from './support/rig.ts';
import { runSipp, type SippRun, waitUntilBound } from './support/sipp.ts';
import type { SrfDialog, SrfRequest, SrfResponse } from './support/srf.ts';

/** The timers of both ends. */
const HASTY = { t1Ms: 50, t2Ms: 400 };
/** Avoids retransmissions on a slow machine, where no message is lost. */
const CALM = { t1Ms: 200, t2Ms: 1600 };
const REASON = { Reason: 'Q.850;cause=16;text="Normal call clearing"' };

let hasty: Rig;
let calm: Rig;
beforeAll(async () => {
  const rigOf = (times: typeof HASTY) => startRig({ sipTimes: { ...times, t4Ms: 300 } });
  [hasty, calm] = await Promise.all([rigOf(HASTY), rigOf(CALM)]);
});
afterAll(async () => {
  await Promise.all([hasty.close(), calm.close()]);
});

interface Placing {
  readonly calls?: number;
  readonly isHasty?: boolean;
  readonly options?: Record<string, unknown>;
  readonly cancelAfterMs?: number;
  /** Handles the answered call; by default it is hung up. */
  readonly afterwards?: (dialog: SrfDialog) => Promise<unknown>;
  readonly onProvisional?: (response: SrfResponse) => void;
}

const hangUp = (dialog: SrfDialog) => dialog.destroy({ headers: REASON });

/** Calls SIPp, all calls at once. @returns The result of each. */
async function place(
  run: Partial<SippRun> & { scenario: string },
  {
    calls = 5,
    isHasty = false,
    options = {},
    cancelAfterMs,
    afterwards = hangUp,
    onProvisional,
  }: Placing = {},
): Promise<unknown[]> {
  const localPort = await reservePort();
  const rig = isHasty ? hasty : calm;
  const sipp = runSipp({ calls, localPort, ...(isHasty ? HASTY : CALM), ...run });
  await waitUntilBound(localPort);
  const transport = run.transport === 't1' ? ';transport=tcp' : '';
  const placeOne = async () => {
    const cancelLater = (_error: unknown, request: SrfRequest) => {
      if (cancelAfterMs === undefined) return;
      setTimeout(
        () => request.cancel({ headers: { Reason: 'SIP;cause=487;text="ring timeout"' } }),
        cancelAfterMs,
      );
    };
    const progress = { cbRequest: cancelLater, ...(onProvisional ? { cbProvisional: onProvisional } : {}) };
    const uri = `sip:sipp@127.0.0.1:${localPort}${transport}`;
    const dialog = await rig.srf
      .createUAC(uri, { localSdp: SDP, ...options }, progress)
      .catch((error: { status: number }) => error.status);
    if (typeof dialog === 'number') return dialog;
    await afterwards(dialog);
    return 200;
  };
  const outcomes = await Promise.all(Array.from({ length: calls }, placeOne));
  const outcome = await sipp;
  expect(outcome.exitCode, outcome.output).toBe(0);
  return outcomes;
}

const all = (status: number, calls = 5) => Array(calls).fill(status);

describe('SIPp as callee', requiresSipPeers, () => {
  test.each([
    ['UDP', 'u1'],
    ['TCP', 't1'],
  ] as const)('A call over %s rings, is answered and is ended by us with a Reason', async (_, transport) => {
    expect(await place({ scenario: callees.answers, transport })).toEqual(all(200));
  });

  test('The callee answers and hangs up with a Reason', async () => {
    const reasons: string[] = [];
    const afterwards = (dialog: SrfDialog) =>
      new Promise<void>((resolve) => {
        dialog.on('destroy', (bye: SrfRequest) => {
          reasons.push(bye.get('Reason'));
          resolve();
        });
      });
    expect(await place({ scenario: callees.hangsUp, calls: 1 }, { calls: 1, afterwards })).toEqual([200]);
    expect(reasons).toEqual([REASON.Reason]);
  });

  test.each([404, 480, 486, 500, 503, 603])('The callee rejects with %i', async (status) => {
    expect(await place({ scenario: callees.refuses(status) })).toEqual(all(status));
  });

  test('The callee redirects', async () => {
    const redirect = callees.refuses(302, ['Contact: <sip:elsewhere@127.0.0.1>']);
    expect(await place({ scenario: redirect })).toEqual(all(302));
  });

  test('A ringing callee gets a CANCEL with its Reason', async () => {
    expect(await place({ scenario: callees.rings }, { cancelAfterMs: 100 })).toEqual(all(487));
  });

  test('A 200 that crosses our CANCEL is ended by BYE', async () => {
    const outcomes = await place(
      { scenario: callees.answersDespiteCancel },
      { cancelAfterMs: 100, afterwards: async () => undefined },
    );
    expect(outcomes).toEqual(all(200));
  });

  test('A silent callee gives 408', async () => {
    expect(
      await place({ scenario: callees.neverResponds, durationMs: 0 }, { calls: 1, isHasty: true }),
    ).toEqual([408]);
  });

  test('The callee sends early media', async () => {
    const bodies: string[] = [];
    const onProvisional = (response: SrfResponse) => void bodies.push(response.body);
    expect(await place({ scenario: callees.playsEarlyMedia }, { onProvisional })).toEqual(all(200));
    expect(bodies.filter((body) => body.includes('m=audio 40000'))).toHaveLength(5);
  });

  test('The callee gets a PRACK for its reliable response', async () => {
    expect(await place({ scenario: callees.requiresPrack })).toEqual(all(200));
  });

  test('A session is changed by UPDATE', async () => {
    const afterwards = async (dialog: SrfDialog) => {
      await new Promise<void>((resolve) => {
        dialog.once('update', (_update: unknown, answer: { send(status: number): void }) => {
          answer.send(200);
          resolve();
        });
      });
      await hangUp(dialog);
    };
    expect(await place({ scenario: callees.updates }, { afterwards })).toEqual(all(200));
  });

  test('The callee holds', async () => {
    const afterwards = async (dialog: SrfDialog) => {
      await once(dialog, 'hold');
      // drachtio-srf responds after its event.
      await sleep(50);
      await hangUp(dialog);
    };
    expect(await place({ scenario: callees.holds }, { afterwards })).toEqual(all(200));
  });

  test('The callee is held', async () => {
    const answers: string[] = [];
    const afterwards = async (dialog: SrfDialog) => {
      answers.push(await dialog.modify(SDP.replace('a=sendrecv', 'a=sendonly')));
      await hangUp(dialog);
    };
    expect(await place({ scenario: callees.isHeld }, { afterwards })).toEqual(all(200));
    expect(answers.filter((answer) => answer.includes('a=recvonly'))).toHaveLength(5);
  });

  test('The callee challenges and accepts our credentials', async () => {
    const options = { auth: { username: 'alice', password: 'wonderland' } };
    expect(await place({ scenario: callees.challenges }, { options })).toEqual(all(200));
  });

  describe('with 10 % message loss', () => {
    const lossy = { lossPercent: 10 };
    test('The callee answers, and we hang up', async () => {
      // SIPp accepts no BYE before the ACK, which may be lost several times.
      const afterwards = (dialog: SrfDialog) => sleep(2000).then(() => hangUp(dialog));
      const outcomes = await place(
        { ...lossy, scenario: callees.answersOverLoss },
        { calls: 60, isHasty: true, afterwards },
      );
      expect(outcomes).toEqual(all(200, 60));
    });
    test('The callee rejects', async () => {
      const outcomes = await place(
        { ...lossy, scenario: callees.refusesOverLoss(486) },
        { calls: 60, isHasty: true },
      );
      expect(outcomes).toEqual(all(486, 60));
    });
  });

  test('No transaction or dialog remains', async () => {
    for (const { server } of [hasty, calm]) {
      expect(await waitUntilDrained(server, 25_000)).toEqual(NO_STATE);
      await vi.waitFor(() => expect(server.stats()['now.timers']).toBe(0), 5000);
      expect(server.stats()['errors.internal']).toBeUndefined();
    }
  }, 40_000);
});
