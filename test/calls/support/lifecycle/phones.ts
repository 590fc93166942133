import type { InboundCall, Telephony } from '../../../../src/calls/telephony.ts';
import type { Trunk } from '../../../../src/calls/trunks/trunk.ts';
import { Caller } from './caller.ts';
import { FakeLeg, type InboundCaller, type PhoneFate, type PhonesDeps, type WireCall } from './fakeLeg.ts';
import type { NodeProcess } from './gates.ts';

export interface Phones {
  readonly wire: WireCall[];
  telephonyOf(life: NodeProcess): Telephony;
  /** A caller calls this node. */
  callIn(life: NodeProcess, fate: PhoneFate, trunk: Trunk): InboundCaller;
}

/** Phones whose every step waits for the scheduler; their legs follow telephony's state machine. */
export function createPhones(deps: PhonesDeps): Phones {
  const { gates } = deps;
  const wire: WireCall[] = [];
  const handlers = new Map<NodeProcess, (call: InboundCall) => void>();
  return {
    wire,
    telephonyOf: (life) => ({
      dial(request) {
        const leg = new FakeLeg(deps, life, request.trunk, {
          callId: request.callId,
          isSecond: request.bridgeWith !== undefined,
          state: { kind: 'preparing' },
        });
        leg.place(deps.fateOf(request), request.ringTimeoutMs, wire);
        return leg.leg;
      },
      onInboundCall: (handler) => void handlers.set(life, handler),
    }),
    callIn(life, fate, trunk) {
      const caller = new Caller(deps, life, trunk, fate, wire);
      void gates.pass('INVITE arrives').then(() => {
        if (life.isAlive) handlers.get(life)?.(caller.inbound);
      });
      return caller;
    },
  };
}
