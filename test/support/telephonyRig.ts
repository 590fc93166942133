import { randomBytes, randomUUID } from 'node:crypto';
import type { SipServerOptions } from '../../sip/options.ts';
import { type SipServer, startSipServer } from '../../sip/server.ts';
import { systemClock } from '../../src/base/values/clock.ts';
import type { DialogStore, StoredDialog } from '../../src/calls/dialogStore.ts';
import type { PhoneNumber } from '../../src/calls/numbers/phoneNumber.ts';
import type { SipTraceMessage } from '../../src/calls/sipTraceStore.ts';
import type { CallLeg, DialRequest, InboundCall, LegEnd, Telephony } from '../../src/calls/telephony.ts';
import { type Trunk, type TrunkInput, trunkInput } from '../../src/calls/trunks/trunk.ts';
import { connectControl, type SipControl, untilConnected } from '../../src/telephony/control/control.ts';
import { DialogRecords } from '../../src/telephony/leg/dialogRecord.ts';
import { createHostResolver } from '../../src/telephony/sdp/hosts.ts';
import { createTelephony } from '../../src/telephony/telephony.ts';
import { traceCall, traceFromControl } from '../../src/telephony/trace.ts';
import type { TrunkDirectory } from '../../src/telephony/trunks/directory.ts';
import { calleeRequest, header, Phone } from '../sip/support/phone.ts';
import { SECRET, serverOptions } from '../sip/support/rig.ts';
import { createFakeMedia, type FakeMediaEngine } from './fakeMedia.ts';
import { unused } from './unused.ts';

/** Telephony on a real SIP server, and a scripted peer. */
export interface TelephonyRig {
  readonly server: SipServer;
  readonly control: SipControl;
  readonly telephony: Telephony;
  readonly media: FakeMediaEngine;
  readonly phone: Phone;
  /** UDP port of the SIP server. */
  readonly port: number;
  readonly errors: readonly { readonly error: unknown; readonly what: string }[];
  readonly traced: readonly SipTraceMessage[];
  /** Dialogs of established legs, as stored. */
  readonly dialogs: ReadonlyMap<string, StoredDialog>;
  /** A trunk to the phone. */
  trunk(changes?: Partial<TrunkInput>): Trunk;
  dial(trunk?: Partial<TrunkInput>, request?: Partial<DialRequest>): RecordedLeg;
  /** Like `dial`, without listeners. */
  dialUnrecorded(trunk?: Partial<TrunkInput>, request?: Partial<DialRequest>): CallLeg;
  /** The call's next request at the phone; retransmissions are skipped. */
  next(leg: CallLeg, method: string, timeoutMs?: number): Promise<string>;
  /** An in-dialog request of the callee. */
  calleeRequest(
    method: string,
    invite: string,
    accepted: string,
    extra?: readonly string[],
    body?: string,
  ): string;
  /** The next inbound call. */
  nextInboundCall(): Promise<InboundCall>;
  close(): Promise<void>;
}

export interface RecordedLeg {
  readonly leg: CallLeg;
  /** The events so far. */
  readonly events: readonly string[];
  readonly ended: Promise<LegEnd>;
}

export const TRUNK_ID = '0197f000-0000-7000-8000-000000000001';
export const PROJECT_ID = '0197f000-0000-7000-8000-000000000002';

export function trunkOf(changes: Partial<TrunkInput> & Pick<TrunkInput, 'host'>): Trunk {
  return {
    ...trunkInput.parse({ name: 'test', ...changes }),
    id: TRUNK_ID,
    projectId: PROJECT_ID,
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
  };
}

export async function startTelephonyRig(
  options: {
    readonly server?: Partial<SipServerOptions>;
    readonly inbound?: Partial<TrunkInput>;
    readonly numbers?: readonly PhoneNumber[];
    /** Of every trunk that registers. */
    readonly serviceRoute?: () => readonly string[];
    /** Overrides the control port; called with the SIP server's own. */
    readonly controlPort?: (port: number) => number;
  } = {},
): Promise<TelephonyRig> {
  const server = await startSipServer(serverOptions({ showTrying: true, ...options.server }));
  const controlPort = options.controlPort?.(server.controlPort) ?? server.controlPort;
  const errors: { error: unknown; what: string }[] = [];
  const onError = (error: unknown, what: string) => errors.push({ error, what });
  const control = connectControl({
    target: () => ({ host: '127.0.0.1', port: controlPort, secret: SECRET }),
    tag: 'test',
    backoff: { firstMs: 20, maxMs: 100 },
    clock: systemClock,
    random: Math.random,
    onError,
  });
  await untilConnected(control);
  const phone = await Phone.open();
  const media = createFakeMedia();
  const port = server.sipPorts.find(({ transport }) => transport === 'udp')?.port ?? 0;
  const trunk = (changes: Partial<TrunkInput> = {}) =>
    trunkOf({ host: '127.0.0.1', port: phone.port, ...changes });
  const traced: SipTraceMessage[] = [];
  const sink = {
    append: async (_project: string, _call: string, messages: readonly SipTraceMessage[]) =>
      void traced.push(...messages),
  };
  const source = traceFromControl(control);
  const dialogs = new Map<string, StoredDialog>();
  const dialogStore = {
    save: async (dialog: StoredDialog) => void dialogs.set(dialog.dialogId, dialog),
    remove: async (dialogId: string) => void dialogs.delete(dialogId),
  };
  const telephony = createTelephony({
    dialogs: new DialogRecords({
      store: unused<DialogStore>('store', dialogStore),
      clock: systemClock,
      onError,
    }),
    control,
    clock: systemClock,
    makeToken: () => randomBytes(8).toString('hex'),
    makeCallId: randomUUID,
    resolveHost: createHostResolver(systemClock),
    onError,
    media,
    traceCall: (sipCallId) => traceCall({ source, sink, clock: systemClock, onError }, sipCallId),
    mediaTimeoutMs: 0,
    serviceRoute: async () => options.serviceRoute?.() ?? [],
    showsTrying: options.server?.showTrying ?? true,
    directory: unused<TrunkDirectory>('directory', {
      bySource: (address) => (address === '127.0.0.1' && options.inbound ? [trunk(options.inbound)] : []),
    }),
    numbers: {
      findHolder: async (number) => {
        const held = options.numbers?.find((one) => one.number === number);
        return held && { ...held, projectId: PROJECT_ID };
      },
    },
    takesPendingClaims: false,
  });
  const dialUnrecorded: TelephonyRig['dialUnrecorded'] = (changes = {}, request = {}) =>
    telephony.dial({
      projectId: PROJECT_ID,
      callId: 'call-1',
      trunk: trunk(changes),
      fromNumber: '+886223456789',
      toNumber: '+886912345678',
      ringTimeoutMs: 10_000,
      mayRedirectTo: async () => true,
      ...request,
    });
  const waiters: ((call: InboundCall) => void)[] = [];
  const unclaimed: InboundCall[] = [];
  let sequence = 76;
  const seen = new Set<string>();
  telephony.onInboundCall((call) => {
    const next = waiters.shift();
    if (next) next(call);
    else unclaimed.push(call);
  });
  return {
    server,
    control,
    telephony,
    media,
    phone,
    port,
    errors,
    traced,
    dialogs,
    trunk,
    dial: (changes, request) => recordLegEvents(dialUnrecorded(changes, request)),
    dialUnrecorded,
    async next(leg, method, timeoutMs) {
      const wanted = new RegExp(`^${method} .*^Call-ID: ${leg.sipCallId}\\r$`, 'ms');
      for (;;) {
        const text = await phone.next(wanted, timeoutMs);
        const key = `${text.split(' ')[0]} ${header(text, 'Via')}`;
        if (seen.has(key)) continue;
        seen.add(key);
        return text;
      }
    },
    calleeRequest(method, invite, accepted, extra = [], body = '') {
      sequence += 1;
      return calleeRequest(phone, { method, invite, accepted, sequence, extra, body });
    },
    nextInboundCall() {
      const call = unclaimed.shift();
      return call ? Promise.resolve(call) : new Promise((resolve) => waiters.push(resolve));
    },
    async close() {
      await control.close();
      await phone.close();
      await server.close();
    },
  };
}

export function recordLegEvents(leg: CallLeg): RecordedLeg {
  const events: string[] = [];
  leg.events.on('ringing', ({ hasEarlyMedia }) => events.push(hasEarlyMedia ? 'early media' : 'ringing'));
  leg.events.on('answered', () => events.push('answered'));
  leg.events.on('held', ({ isHeld }) => events.push(isHeld ? 'held' : 'resumed'));
  leg.events.on('dtmf', ({ digit }) => events.push(`digit ${digit}`));
  leg.events.on('transferRequested', ({ to }) => events.push(`transfer to ${to}`));
  const ended = new Promise<LegEnd>((resolve) => {
    leg.events.on('ended', (end) => {
      events.push('ended');
      resolve(end);
    });
  });
  return { leg, events, ended };
}
