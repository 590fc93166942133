import { setImmediate as eventLoopTurn } from 'node:timers/promises';
import type { PathwayGraph } from '../../agents/pathway/graph.ts';
import { toTransferTarget } from '../../agents/transferTarget.ts';
import { sleep } from '../../base/async/sleep.ts';
import type { Clock } from '../../base/values/clock.ts';
import { type DtmfEntry, enterDigit } from '../../conversation/turnDetection/dtmf.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import type { NewSession } from '../../engine/session/session.ts';
import { digitsLeaving, type SpokenDelivery } from '../../engine/turn/delivery.ts';
import type { TurnInput, TurnOutput } from '../../engine/turn/turn.ts';
import type { CallerAction, Interruption, PlayChannel } from './channel.ts';
import type { ObservedState } from './observation.ts';
import { type Exchange, type Observation, reactionIn } from './observation.ts';
import type { TestSessions } from './testSessions.ts';

/** The speed of a voice, to estimate what was heard of an answer before an interruption. */
const CHARACTERS_PER_SECOND = 15;

export interface ChatChannelDeps {
  readonly engine: ConversationEngine;
  readonly sessions: TestSessions;
  readonly session: NewSession;
  readonly graph: PathwayGraph;
  readonly clock: Clock;
}

/** Talks to the agent as a chat client does; takes no time but the model's. */
export class ChatChannel implements PlayChannel {
  readonly #deps: ChatChannelDeps;
  #endedBy: Observation['endedBy'] = null;
  /**
   * The time that the agent spoke on after the interruption of its last answer; undefined when it was not interrupted.
   */
  #wentOnMs: number | undefined;

  constructor(deps: ChatChannelDeps) {
    this.#deps = deps;
  }

  async begin(): Promise<undefined> {
    return undefined;
  }

  async act(
    action: CallerAction,
    turn: number,
    signal: AbortSignal,
    interruption?: Interruption,
  ): Promise<Exchange> {
    const interruptedAfterMs = interruption?.afterMs;
    const nothing = { turn, agent: '', nodes: [], tools: [], digits: [], transfers: [] };
    switch (action.kind) {
      case 'say':
        return await this.#run(turn, action.text, sayingOf(action.text), signal, interruptedAfterMs);
      case 'interrupt': {
        const stopped = this.#wentOnMs === undefined ? {} : { stoppedWithinMs: this.#wentOnMs };
        this.#wentOnMs = undefined;
        return { ...(await this.#run(turn, action.text, sayingOf(action.text), signal)), ...stopped };
      }
      case 'dtmf': {
        const exchanges = await this.#press(turn, action.digits, signal, interruptedAfterMs);
        return { ...joined(exchanges), turn, caller: `[keys ${action.digits}]` };
      }
      case 'silence': {
        const { durationMs } = action;
        return await this.#run(
          turn,
          `[silence ${durationMs} ms]`,
          { kind: 'silence', durationMs },
          signal,
          interruptedAfterMs,
        );
      }
      case 'wait':
        await sleep(this.#deps.clock, action.durationMs, signal);
        return nothing;
      case 'hangup':
        await this.#hangUp();
        return { ...nothing, caller: '[hangs up]' };
    }
  }

  state(): ObservedState {
    const { sessions, session } = this.#deps;
    return {
      variables: sessions.session?.state.variables ?? session.variables ?? {},
      endedBy: this.#endedBy,
    };
  }

  /** Enters digits as on the phone, where each complete entry is a turn. */
  async #press(
    turn: number,
    digits: string,
    signal: AbortSignal,
    interruptedAfterMs: number | undefined,
  ): Promise<Exchange[]> {
    const exchanges: Exchange[] = [];
    const run = async (entered: string) => {
      if (this.#endedBy !== null) return;
      const input = { kind: 'dtmf', digits: entered } as const;
      exchanges.push(await this.#run(turn, entered, input, signal, interruptedAfterMs));
    };
    let entry: DtmfEntry | undefined;
    for (const digit of digits) {
      const step = enterDigit(entry, digit, 0, this.#expectedEntries());
      entry = step.entry;
      if (step.complete !== undefined) await run(step.complete);
    }
    if (entry) await run(entry.digits);
    return exchanges;
  }

  /** The entries of digits that lead on from where the session is. */
  #expectedEntries(): string[] {
    const { graph, sessions } = this.#deps;
    const { currentNodeId = null, route } = sessions.session?.state ?? {};
    const current = currentNodeId ?? graph.start?.id;
    return digitsLeaving(
      graph,
      [current, route?.returnTo?.nodeId].flatMap((id) => (id === undefined ? [] : { id })),
    );
  }

  async #hangUp(): Promise<void> {
    const { engine, session } = this.#deps;
    if (this.#endedBy === null) this.#endedBy = 'caller';
    await engine.end(session.projectId, session.sessionId, 'api_end');
  }

  async #run(
    turn: number,
    caller: string,
    input: TurnInput,
    signal: AbortSignal,
    interruptedAfterMs?: number,
  ): Promise<Exchange> {
    // A model without a network never waits: other work gets its turn here.
    await eventLoopTurn();
    const { engine, sessions, session } = this.#deps;
    const mark = sessions.mark();
    const digits: string[] = [];
    const transfers: string[] = [];
    let said = '';
    const sink = (output: TurnOutput) => {
      if (output.type === 'text' || output.type === 'filler') said += output.text;
      if (output.type === 'action' && output.action.kind === 'transfer') {
        const { to, options } = output.action;
        transfers.push(...(options?.targets ?? [to]).map((target) => toTransferTarget(target).to));
      }
      if (output.type === 'action' && output.action.kind === 'send_dtmf') digits.push(output.action.digits);
      if (output.type === 'done' && output.ended) this.#endedBy = 'agent';
      return undefined;
    };
    const delivery =
      interruptedAfterMs === undefined ? undefined : this.#heardUntil(interruptedAfterMs, () => said);
    const request = delivery ? { input, delivery } : { input, isWhole: true };
    await engine.runTurn(session, () => request, sink, signal);
    // A test places no call for a transfer: the conversation ends with it.
    if (transfers.length > 0) this.#endedBy = 'agent';
    const { messages, events } = sessions.since(mark);
    return { turn, caller, ...reactionIn(messages, events), digits, transfers };
  }

  /** Delivers as much of an answer as a voice says in this time; all of it where the node does not let the caller interrupt. */
  #heardUntil(afterMs: number, said: () => string): SpokenDelivery {
    let isInterruptible = true;
    const heard = () => {
      const whole = said();
      const leftMs = Math.round((whole.length / CHARACTERS_PER_SECOND) * 1000 - afterMs);
      const interrupted = leftMs > 0 && isInterruptible;
      this.#wentOnMs = leftMs <= 0 ? undefined : isInterruptible ? 0 : leftMs;
      if (!interrupted) return { text: whole, interrupted };
      const text = whole.slice(0, Math.floor((afterMs * CHARACTERS_PER_SECOND) / 1000));
      return { text, generatedText: whole, interrupted };
    };
    return {
      onSession: () => undefined,
      onNode({ node }) {
        isInterruptible = node.data.interruption !== 'off';
        return undefined;
      },
      finish: async () => heard(),
      heardSoFar: heard,
    };
  }
}

/** Joins the agent's reactions of several turns. */
function joined(exchanges: readonly Exchange[]): Omit<Exchange, 'turn' | 'caller'> {
  const latencies = exchanges.flatMap(({ latencyMs }) => latencyMs ?? []);
  return {
    agent: exchanges.flatMap(({ agent }) => (agent === '' ? [] : agent)).join('\n'),
    nodes: exchanges.flatMap(({ nodes }) => nodes),
    tools: exchanges.flatMap(({ tools }) => tools),
    digits: exchanges.flatMap((exchange) => exchange.digits),
    transfers: exchanges.flatMap(({ transfers }) => transfers),
    latencyMs: latencies.length > 0 ? Math.max(...latencies) : undefined,
  };
}

function sayingOf(text: string): TurnInput {
  return { kind: 'user_message', text };
}
