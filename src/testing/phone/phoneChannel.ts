import type { CallerAction, Interruption, PlayChannel } from '../play/channel.ts';
import type { ObservedState } from '../play/observation.ts';
import { type Exchange, type Observation, reactionIn } from '../play/observation.ts';
import { LineRefusedError } from './line.ts';
import type { PhoneCall, SpokenSince } from './phoneCall.ts';
import type { SessionRecord } from './sessionRecord.ts';

/** An agent that does not speak first within this time waits for the caller. */
const GREETING_MS = 6_000;
const ANSWER_MS = 30_000;
/** Keys may ask for more keys. */
const ANSWER_TO_KEYS_MS = 12_000;

export interface PhoneChannelDeps {
  /** Calls the agent. @throws {LineRefusedError} */
  readonly call: (signal: AbortSignal) => Promise<PhoneCall>;
  readonly record: SessionRecord;
  /** True for a person who is called: they speak before they listen. */
  readonly speaksFirst: boolean;
}

/** Talks to the agent by voice and keys. What the agent said is read from its session. */
export class PhoneChannel implements PlayChannel {
  readonly #deps: PhoneChannelDeps;
  #call: PhoneCall | undefined;
  #endedBy: Observation['endedBy'] = null;

  constructor(deps: PhoneChannelDeps) {
    this.#deps = deps;
  }

  async begin(signal: AbortSignal, interruption?: Interruption): Promise<Exchange | undefined> {
    try {
      this.#call = await this.#deps.call(signal);
    } catch (error) {
      if (!(error instanceof LineRefusedError) || !(await this.#deps.record.wasRejected())) throw error;
      this.#endedBy = 'agent';
      return undefined;
    }
    if (this.#deps.speaksFirst) return undefined;
    await this.#call.listen({ sinceMs: 0, patienceMs: GREETING_MS, interruption });
    return await this.#exchange(0, undefined, {});
  }

  async act(
    action: CallerAction,
    turn: number,
    _signal: AbortSignal,
    interruption?: Interruption,
  ): Promise<Exchange> {
    const call = this.#call;
    if (!call) throw new Error('the call has not begun');
    switch (action.kind) {
      case 'say':
      case 'interrupt': {
        const spoken = await call.say(action.text, turn, {
          isInterruption: action.kind === 'interrupt',
          thenBeeps: action.kind === 'say' && action.thenBeeps,
        });
        await call.listen({ sinceMs: spoken.endMs, patienceMs: ANSWER_MS, interruption });
        return await this.#exchange(turn, action.text, spoken);
      }
      case 'dtmf': {
        const endMs = await call.press(action.digits);
        await call.listen({ sinceMs: endMs, patienceMs: ANSWER_TO_KEYS_MS, interruption });
        return await this.#exchange(turn, `[keys ${action.digits}]`, { endMs });
      }
      case 'silence': {
        const { durationMs } = action;
        const sinceMs = await call.wait(durationMs);
        await call.listen({ sinceMs, patienceMs: durationMs, interruption });
        return await this.#exchange(turn, `[silence ${durationMs} ms]`, {});
      }
      case 'wait':
        await call.wait(action.durationMs);
        return await this.#exchange(turn, undefined, {});
      case 'hangup':
        if (!call.hasEnded) this.#endedBy = 'caller';
        await call.hangUp();
        return await this.#exchange(turn, '[hangs up]', {});
    }
  }

  state(): ObservedState {
    return { variables: this.#deps.record.variables, endedBy: this.#endedBy };
  }

  /** Hangs up. Idempotent. */
  async close(reason: unknown): Promise<void> {
    await this.#call?.close(reason);
  }

  /** Returns what was heard and stored since the last exchange. */
  async #exchange(
    turn: number,
    caller: string | undefined,
    { endMs, stoppedWithinMs, startMs }: Partial<SpokenSince>,
  ): Promise<Exchange> {
    const { record } = this.#deps;
    const call = this.#call;
    if (call?.hasEnded) {
      this.#endedBy ??= 'agent';
      await record.untilEnded();
    } else await record.read();
    const { messages, events } = record.takeNew();
    const { latencyMs: _measuredByTheAgent, ...reaction } = reactionIn(messages, events);
    const { firstAtMs, digits = '' } = call?.takeHeard() ?? {};
    const inRecording = (atMs: number) => record.inRecording((call?.startedAtMs ?? 0) + atMs);
    return {
      turn,
      caller,
      ...reaction,
      digits: digits === '' ? [] : [digits],
      transfers: [
        ...new Set(events.flatMap(({ type, data }) => (type === 'transfer' ? String(data.to) : []))),
      ],
      latencyMs:
        endMs === undefined || firstAtMs === undefined
          ? undefined
          : Math.max(0, Math.round(firstAtMs - endMs)),
      stoppedWithinMs: stoppedWithinMs === undefined ? undefined : Math.round(stoppedWithinMs),
      interruptedAtMs:
        stoppedWithinMs === undefined || startMs === undefined ? undefined : inRecording(startMs),
      atMs: firstAtMs === undefined ? undefined : inRecording(firstAtMs),
    };
  }
}
