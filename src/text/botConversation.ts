import type { AgentConfig } from '../agents/agentConfig.ts';
import type { PathwayNode } from '../agents/pathway/schema/nodeSchema.ts';
import { currentSpeech } from '../agents/speech/language.ts';
import { turnDetectionOf } from '../agents/speech/turnDetection.ts';
import { CallwayError } from '../base/errors.ts';
import type { Clock } from '../base/values/clock.ts';
import { omitUndefined } from '../base/values/omitUndefined.ts';
import type { SessionHistory } from '../conversation/turns/sessionHistory.ts';
import { callerMessages } from '../conversation/turns/unansweredMessages.ts';
import type { BotClip } from '../dialects/textDialect.ts';
import type { ConversationEngine } from '../engine/conversationEngine.ts';
import type { Session, SessionMessage } from '../engine/session/session.ts';
import { type CurrentNode, type Delivered, TurnCancelledError } from '../engine/turn/delivery.ts';
import type { TurnInput, TurnRequest, TurnSink } from '../engine/turn/turn.ts';
import { TurnEvents } from '../engine/turn/turnEvents.ts';
import type { LiveEvents } from '../events/liveEvents.ts';
import type { CallCommand } from '../media/agentStream/streamClient.ts';
import { MUSIC_RATE_HZ } from '../media/session/holdMusic.ts';
import type { SpokenAnswer } from '../models/ports/chatModel.ts';
import { type BotItem, BotWords } from './botWords.ts';
import type { FetchClip, TextBot, TextBotListener } from './textBot.ts';

/** A day: longer than any call. A bot decides itself what a silence means. */
const NEVER_MS = 86_400_000;

/** The node of a customer's bot, which follows no pathway. */
const BOT_NODE: PathwayNode = {
  id: 'bot',
  type: 'conversation',
  position: { x: 0, y: 0 },
  data: { title: 'Bot', prompt: '', tools: [], silence: { afterMs: NEVER_MS, hangupAfter: 0 } },
};

/** The digits, each of which is an entry by itself. */
const DTMF_DIGITS: readonly string[] = [...'0123456789*#ABCD'];

/** A bot that has begun to answer, and says neither more nor that it has finished, has finished. */
const ANSWER_TIMEOUT_MS = 3000;
const MAX_CLIP_MS = 5 * 60_000;
const NO_USAGE = { modelCalls: 0, promptTokens: 0, completionTokens: 0, totalTokens: 0 };
/** Turns in which the bot's words are said. It answers digits when it has had enough of them, by its own initiative. */
const SPEAKING: ReadonlySet<TurnInput['kind']> = new Set(['begin', 'user_message', 'say']);
/** The bot has something to say by itself. */
const BOT_TURN: TurnInput = { kind: 'say', text: '' };

/** The way in which words are said. */
interface Manner {
  readonly interruptible: boolean;
  readonly language?: string | undefined;
}

export interface BotConversationDeps {
  readonly session: Session;
  readonly agent: AgentConfig;
  readonly connect: (listener: TextBotListener) => Promise<TextBot>;
  readonly fetchClip: FetchClip;
  readonly history: SessionHistory;
  readonly command: (command: CallCommand) => void;
  readonly liveEvents?: LiveEvents | undefined;
  readonly clock: Clock;
  readonly onError: (error: unknown, message: string) => void;
}

/**
 * A customer's bot in place of the conversation engine: the caller's words are sent to it, and its words are said, while our
 * turn detection and voices do the rest. The history keeps both as they were heard.
 */
export class BotConversation {
  readonly #deps: BotConversationDeps;
  readonly #words: BotWords;
  readonly #bot: Promise<TextBot>;
  #current: CurrentNode;
  /** The language in which the caller is understood, where it differs from the spoken one. */
  #understood: string | undefined;
  /** The words that were sent for a cancelled turn; the next turn's words begin with them. */
  #sent = '';
  #turns = 0;

  constructor(deps: BotConversationDeps) {
    this.#deps = deps;
    this.#words = new BotWords(deps.clock);
    this.#current = this.#nodeIn(undefined);
    this.#bot = deps.connect(this.#listener);
    // Told by the turn that needs it.
    this.#bot.catch((error: unknown) => this.#words.add({ kind: 'lost', error: asError(error) }));
  }

  /** Returns the bot's own turn, when it wants to say something without a request. */
  readonly initiative = (): TurnInput | undefined => (this.#words.isEmpty ? undefined : BOT_TURN);

  readonly runTurn: ConversationEngine['runTurn'] = async (_session, buildRequest, sink, signal) => {
    const { session } = this.#deps;
    const request = await buildRequest(session);
    request.delivery?.onSession(session);
    await request.delivery?.onNode(this.#current, false);
    await sink({ type: 'start', model: '' });
    const ended = await this.#run(request, sink, signal);
    await sink({
      type: 'done',
      finishReason: 'stop',
      ended: ended ? 'end_call_tool' : null,
      model: '',
      usage: NO_USAGE,
    });
  };

  close(): void {
    void this.#bot.then(
      (bot) => bot.close(),
      () => undefined,
    );
  }

  readonly #listener: TextBotListener = {
    say: (part) => this.#add({ kind: 'text', ...part }),
    play: (clip) => this.#add({ kind: 'clip', ...clip }),
    sendDigits: (digits) => this.#deps.command({ kind: 'send_dtmf', digits }),
    useLanguage: ({ spoken, understood }) => {
      this.#current = this.#nodeIn(spoken ?? understood);
      this.#understood = understood;
    },
    end: (handoff) => {
      if (handoff !== undefined)
        this.#deps.history.addEvent('call_status', { status: 'handoff', handoffData: handoff });
      this.#add({ kind: 'end' });
    },
    closed: (isOrderly) =>
      this.#add(
        isOrderly ? { kind: 'end' } : { kind: 'lost', error: lost('The connection to the bot was lost') },
      ),
  };

  /** @returns Whether the bot has ended the call. */
  async #run(request: TurnRequest, sink: TurnSink, signal: AbortSignal): Promise<boolean> {
    const { input, delivery, history = [] } = request;
    const { liveEvents, session } = this.#deps;
    const turn = { ...session, turn: this.#turns++ };
    const events = new TurnEvents(liveEvents, turn, delivery?.commitment);
    events.started(request);
    const at = this.#now();
    const said: SessionMessage[] = history
      .filter(({ role }) => role === 'user')
      .map((message) => ({ ...message, at }));
    let hasSpoken = false;
    const speak: TurnSink = (output) => {
      hasSpoken = true;
      return sink(output);
    };
    let ended = false;
    try {
      await delivery?.commitment?.promise;
      said.push(...(await this.#tell(input, at)));
      if (input.kind === 'say' && input.text !== '') await speak({ type: 'text', text: input.text });
      else if (SPEAKING.has(input.kind))
        ended = await this.#answer(input.kind === 'user_message', delivery, speak, signal);
      const delivered = await delivery?.finish();
      if (delivered?.interrupted) await this.#interrupted(delivered);
      this.#store(said, delivered, events);
    } catch (error) {
      if (!signal.aborted) {
        this.#store(said, undefined, events);
        throw error;
      }
      // What was said comes again, with what the caller added.
      if (signal.reason instanceof TurnCancelledError) {
        this.#sent = input.kind === 'user_message' ? input.text : '';
        this.#words.drop();
        if (hasSpoken) (await this.#bot).interrupted('', 0);
        throw error;
      }
      const delivered = hasSpoken ? await delivery?.finish() : delivery?.heardSoFar();
      await this.#interrupted(delivered);
      this.#store(said, delivered, events);
      throw error;
    }
    return ended;
  }

  /** @returns The caller's messages. */
  async #tell(input: TurnInput, at: string): Promise<SessionMessage[]> {
    if (input.kind === 'user_message') {
      const { text, language } = input;
      if (language !== undefined) this.#current = this.#nodeIn(language);
      const rest =
        this.#sent !== '' && text.startsWith(this.#sent) ? text.slice(this.#sent.length).trim() : text;
      this.#sent = '';
      this.#words.asked();
      (await this.#bot).words(rest === '' ? text : rest, this.#understood ?? this.#current.language);
    }
    if (input.kind === 'not_understood')
      this.#deps.history.addEvent('not_understood', { why: input.why, count: input.count });
    if (input.kind === 'dtmf') {
      const bot = await this.#bot;
      for (const digit of input.digits) bot.dtmf(digit);
    }
    const isLeft = input.kind === 'unanswered_message' && input.text !== '';
    const said: TurnInput = isLeft ? { ...input, kind: 'user_message' } : input;
    return callerMessages(said).map((message) => ({ ...message, at }));
  }

  /**
   * Says what the bot sends, up to the end of its answer.
   *
   * @param mayWait - The bot was asked: it may take its time to begin.
   * @returns Whether the bot has ended the call.
   */
  async #answer(
    mayWait: boolean,
    delivery: TurnRequest['delivery'],
    speak: TurnSink,
    signal: AbortSignal,
  ): Promise<boolean> {
    let timeoutMs = mayWait ? undefined : 0;
    let manner = mannerOf({ interruptible: true });
    for (;;) {
      const item = await this.#words.next(signal, timeoutMs);
      timeoutMs = ANSWER_TIMEOUT_MS;
      if (item === undefined) return false;
      if (item.kind === 'end') return true;
      if (item.kind === 'lost') throw item.error;
      // Words of two nodes share no sentence.
      if (mannerOf(item) !== manner) await delivery?.onNode(this.#nodeOf(item), false);
      manner = mannerOf(item);
      if (await this.#say(item, speak, signal)) return false;
    }
  }

  /** @returns Whether nothing follows so far. */
  async #say(
    item: Extract<BotItem, { kind: 'text' | 'clip' }>,
    speak: TurnSink,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (item.kind === 'text') {
      if (item.text !== '') await speak({ type: 'text', text: item.text });
      return item.isLast;
    }
    const speech = await this.#clip(item, signal);
    if (speech) await speak({ type: 'speech', speech });
    return this.#words.isEmpty;
  }

  async #clip({ url, times }: BotClip, signal: AbortSignal): Promise<SpokenAnswer | undefined> {
    try {
      const samples = await this.#deps.fetchClip(url, signal);
      const most = Math.max(1, Math.floor((MAX_CLIP_MS * MUSIC_RATE_HZ) / 1000 / samples.length));
      return {
        provider: 'play',
        sampleRateHz: MUSIC_RATE_HZ,
        async *samples() {
          for (let n = 0; n < Math.min(times, most); n++) yield samples.slice();
        },
        truncate: () => undefined,
      };
    } catch (error) {
      signal.throwIfAborted();
      this.#deps.onError(error, 'recording of a bot not played');
      this.#deps.history.addEvent('error', { code: 'play_failed', message: asError(error).message });
      return undefined;
    }
  }

  async #interrupted(delivered: Delivered | undefined): Promise<void> {
    this.#words.drop();
    const bargeIn = delivered?.events?.find(({ type }) => type === 'barge_in');
    // Otherwise the agent has lost the call.
    if (!delivered || !bargeIn) return;
    const { heardMs } = bargeIn.data;
    (await this.#bot).interrupted(delivered.text, typeof heardMs === 'number' ? heardMs : 0);
  }

  #store(said: readonly SessionMessage[], delivered: Delivered | undefined, events: TurnEvents): void {
    const { history } = this.#deps;
    const { text: content = '', interrupted, heard, speech, events: told = [] } = delivered ?? {};
    const { latencyMs, latencyParts, latencyDetails } = delivered ?? {};
    const details = { heard, speech, latencyMs, latencyParts, latencyDetails };
    const message = { role: 'assistant', content, at: this.#now(), ...omitUndefined(details) } as const;
    const spoken: SessionMessage = interrupted ? { ...message, interrupted } : message;
    const answer = content === '' ? [] : [spoken];
    if (said.length + answer.length > 0) history.addMessages([...said, ...answer]);
    for (const { type, data } of told) history.addEvent(type, data);
    events.answered(answer, delivered);
  }

  #add(item: Parameters<BotWords['add']>[0]): void {
    if (!this.#words.add(item))
      this.#words.add({ kind: 'lost', error: lost('The bot sends more than a call can say') });
  }

  #nodeOf({ interruptible, language }: Manner): CurrentNode {
    const current = language === undefined ? this.#current : this.#nodeIn(language);
    if (interruptible) return current;
    const data = { ...BOT_NODE.data, interruption: 'off' };
    return { ...current, node: { ...BOT_NODE, data } as CurrentNode['node'] };
  }

  #nodeIn(language: string | undefined): CurrentNode {
    const { agent, session } = this.#deps;
    const variables = { ...session.state.variables, ...(language === undefined ? {} : { language }) };
    return {
      node: BOT_NODE,
      turnDetection: turnDetectionOf(agent.turnDetection, undefined),
      engine: undefined,
      ...currentSpeech(agent.speech, undefined, variables),
      digits: DTMF_DIGITS,
      expectedAnswers: [],
      speaksForItself: true,
    };
  }

  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }
}

/** Returns what two manners are compared by. */
function mannerOf({ interruptible, language }: Manner): string {
  return `${interruptible} ${language}`;
}

function lost(message: string): CallwayError {
  return new CallwayError('unavailable', 'engine_unavailable', message);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
