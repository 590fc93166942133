import type { Clock } from '../../base/clock.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import type { NewSession, Session } from '../../engine/session/session.ts';
import { type CurrentNode, type Delivered, TurnCancelledError } from '../../engine/turn/delivery.ts';
import type {
  ExternalMessage,
  TurnAction,
  TurnDone,
  TurnInput,
  TurnOutput,
  TurnRequest,
} from '../../engine/turn/turn.ts';
import type { AgentSpeech } from '../speech/agentSpeech.ts';
import { createSentenceSplitter } from '../speech/sentenceSplitter.ts';
import { type TurnLatency, type TurnTimestamps, turnLatency } from './turnLatency.ts';

export interface AgentTurnDeps {
  readonly conversations: Pick<ConversationEngine, 'runTurn'>;
  readonly session: NewSession;
  readonly clock: Clock;
  readonly speech: AgentSpeech;
  readonly onPlace: (place: CurrentNode) => void;
  /** The session as it is when the turn's time has come. */
  readonly onSession: (session: Session) => void;
}

export interface AgentTurnRequest {
  readonly input: TurnInput;
  /** What was said in turns that were not kept. */
  readonly history: readonly ExternalMessage[];
  readonly moments: TurnTimestamps;
  /** Said when the pathway has nothing to say. */
  readonly ownWords: () => string | undefined;
}

/** One turn of the agent's: asked of the conversation, spoken as it is written, and kept as it was heard. */
export interface AgentTurn {
  readonly input: TurnInput;
  readonly moments: TurnTimestamps;
  /** The caller cut in: what was heard until now stands. None where all was heard, and is only being kept. */
  cut(): void;
  /** The caller went on before anything was heard: the turn is as if it had not been. */
  takeBack(): void;
  /** The call is over, or no longer the agent's: what was heard until now stands, and nobody is to blame. */
  leave(): void;
  /** Says words of the channel's own before the pathway's, while these are waited for. */
  fill(text: string): void;
  /** Never rejects. */
  readonly done: Promise<AgentTurnResult>;
}

export interface AgentTurnResult {
  readonly how: 'answered' | 'cut' | 'taken_back' | 'left' | 'failed';
  /** The pathway said something by itself, placeholders apart. */
  readonly saidAnything: boolean;
  /** Whether what it answers stands in the session's history. */
  readonly isKept: boolean;
  readonly ended: TurnDone['ended'];
  readonly actions: readonly TurnAction[];
  readonly latency: TurnLatency | undefined;
  readonly error: unknown;
}

/** Nobody waits for an answer to a silence, nor does a machine that records. */
const UNASKED: ReadonlySet<TurnInput['kind']> = new Set(['silence', 'voicemail']);

export function startAgentTurn(deps: AgentTurnDeps, request: AgentTurnRequest): AgentTurn {
  const { clock, speech } = deps;
  const { moments } = request;
  const controller = new AbortController();
  const splitter = createSentenceSplitter();
  const actions: TurnAction[] = [];
  let stopped: 'cut' | 'taken_back' | 'left' | undefined;
  let saidAnything = false;
  let hasBegun = false;
  let isHeard = false;
  let ended: TurnDone['ended'] = null;

  const note = (output: TurnOutput): undefined => {
    switch (output.type) {
      case 'start':
        // From here on the conversation keeps what the caller said, whatever becomes of the answer.
        hasBegun = true;
        return;
      case 'text':
        moments.firstTextAtMs ??= clock.monotonicMs();
        saidAnything = true;
        for (const piece of splitter.push(output.text)) speech.say(piece);
        return;
      case 'placeholder':
        moments.firstTextAtMs ??= clock.monotonicMs();
        for (const piece of [...splitter.flush(), output.text]) speech.say(piece);
        return;
      case 'action':
        actions.push(output.action);
        return;
      case 'done':
        ended = output.ended;
        return;
      default:
    }
  };
  const latency = () => (UNASKED.has(request.input.kind) ? undefined : turnLatency(moments));
  const heard = (): Delivered => {
    const text = speech.heardText();
    const bargeIn = {
      type: 'barge_in',
      data: {
        heardText: text,
        heardMs: Math.round(speech.heardMs()),
        ...(speech.stopMs === undefined ? {} : { stopMs: Math.round(speech.stopMs) }),
      },
    } as const;
    return { text, interrupted: stopped === 'cut', events: stopped === 'cut' ? [bargeIn] : [] };
  };
  const settle = async (): Promise<Delivered> => {
    for (const piece of splitter.flush()) speech.say(piece);
    const own = saidAnything ? undefined : request.ownWords();
    if (own !== undefined) speech.say(own);
    speech.finish();
    isHeard = (await speech.over) === 'played';
    return { ...heard(), interrupted: !isHeard, ...latency() };
  };
  const run = async (): Promise<AgentTurnResult['how']> => {
    const read = (): TurnRequest => {
      const { input, history, moments } = request;
      const delivery = { onSession: deps.onSession, onNode: deps.onPlace, finish: settle, heardSoFar: heard };
      const beganAtMs = epochOf(moments, clock);
      return { input, delivery, beganAtMs, ...(history.length > 0 ? { history } : {}) };
    };
    await deps.conversations.runTurn(deps.session, read, note, controller.signal);
    return stopped ?? 'answered';
  };
  const resultOf = (how: AgentTurnResult['how'], error?: unknown): AgentTurnResult => {
    // What was sounding for a turn that failed has nobody to end it.
    speech.cut();
    return {
      how,
      saidAnything,
      isKept: hasBegun && how !== 'taken_back',
      ended,
      actions,
      latency: turnLatency(moments),
      error,
    };
  };

  const stop = (how: 'cut' | 'taken_back' | 'left', reason: Error) => {
    if (isHeard && how === 'cut') {
      // Nothing of it is left to be cut; what is still done for it need not hold up the next one.
      controller.abort(reason);
      return;
    }
    stopped ??= how;
    speech.cut();
    controller.abort(reason);
  };
  return {
    input: request.input,
    moments,
    cut: () => stop('cut', new Error('the caller cut in')),
    takeBack: () => stop('taken_back', new TurnCancelledError()),
    leave: () => stop('left', new Error('the call is over, or was taken from the agent')),
    fill(text) {
      speech.say(text);
    },
    done: run().then(
      (how) => resultOf(how),
      (error: unknown) => (stopped ? resultOf(stopped) : resultOf('failed', error)),
    ),
  };
}

/** When the caller's last voice ended, on the wall clock. */
function epochOf({ lastVoicedMs, endedStreamMs, endedAtMs }: TurnTimestamps, clock: Clock): number {
  return clock.now() - (clock.monotonicMs() - endedAtMs) - Math.max(0, endedStreamMs - lastVoicedMs);
}
