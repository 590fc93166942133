import { withTimeout } from '../../../base/async/withTimeout.ts';
import type { Clock } from '../../../base/values/clock.ts';
import type { StreamMessage } from '../../../dialects/dialect.ts';
import type { TextBotHandler, TextClient, TextDialect } from '../../../dialects/textDialect.ts';
import { shown } from '../../../dialects/wire/botRules.ts';
import type { StreamTarget } from '../../../media/agentStream/streamClient.ts';
import { CLOSE_NORMAL, type StreamSocket, sendMessage } from '../../transport/streamSocket.ts';
import { closed, type Finding, fail, isOrderly, Problems, pass, skipped } from '../finding.ts';
import { connectionOf, follow } from '../sockets.ts';
import { appProblem } from './relayMessages.ts';

export interface TextBotCheck {
  readonly dialect: TextDialect;
  /** Open, to the app. */
  readonly socket: StreamSocket;
  readonly clock: Clock;
  readonly target: Pick<StreamTarget, 'streamId' | 'customParameters'>;
  /** What the caller says, twice. */
  readonly text: string;
  /** What the caller says is also told while it is being said. */
  readonly hasPartialPrompts?: boolean;
  /** The app answers nothing. */
  readonly isListenOnly?: boolean;
}

/** For an app that greets, after the setup. */
const GREETING_MS = 1000;
const PARTIAL_MS = 300;
const LANGUAGE = 'en-US';
const DIGIT = '5';
/** A caller waits no longer for the first words. */
const ANSWER_TIMEOUT_MS = 10_000;
/** An answer whose tokens pause longer than this has ended. */
const GAP_TIMEOUT_MS = 5000;
const HEARD_MS = 300;
/** An interrupted app stops within this, and is watched for that long afterwards. */
const STOP_TIMEOUT_MS = 1000;
const WATCH_MS = 1500;
/** What an app does with a key or an error. */
const REACTION_MS = 1000;
/** For what an app still says once it has sent `end`. */
const AFTER_END_MS = 500;
const CLOSE_TIMEOUT_MS = 5000;
const ERROR = 'Invalid message received: this checks what the app does at an error';

/** Plays Twilio's side of a call with a ConversationRelay app, and tells what the app does wrong. Closes the connection. */
export async function checkTextBot(options: TextBotCheck): Promise<readonly Finding[]> {
  const call = new RelayCall(options);
  await call.run();
  return call.findings();
}

/** What the app says after a prompt. */
interface Answer {
  readonly askedAtMs: number;
  firstAtMs?: number;
  /** The time of the token with `last`. */
  completeAtMs?: number;
  text: string;
}

/** What is tried one after the other, until the app ends the call. */
type Step = 'prompts' | 'interrupt' | 'keys' | 'error';

class RelayCall {
  readonly #options: TextBotCheck;
  readonly #client: TextClient;
  readonly #problems = new Problems();
  readonly #startedMs: number;
  readonly #closed: Promise<void>;
  readonly #sent = { text: 0, play: 0, sendDigits: 0, language: 0 };
  #answer: Answer = { askedAtMs: 0, text: '' };
  /** To each prompt. */
  readonly #answers: Answer[] = [];
  /** Steps that were begun. */
  readonly #steps = new Set<Step>();
  /** Looks whether what is waited for is there. */
  #look: () => void = () => undefined;
  #isPartial = false;
  #interruptedAtMs: number | undefined;
  /** Tokens of the interrupted answer that come too late. */
  #lateTokens = 0;
  /** The app has sent `end`. */
  #hasHungUp = false;
  #isOver = false;
  #isLeftOpen = false;
  #end: { readonly code: number; readonly isApps: boolean } | undefined;

  constructor(options: TextBotCheck) {
    const { socket, dialect, target, clock } = options;
    this.#options = options;
    this.#startedMs = clock.monotonicMs();
    const onClose = (code: number) => {
      this.#end = { code, isApps: !this.#isOver && !this.#hasHungUp };
      this.#look();
    };
    this.#closed = follow(socket, (message) => this.#receive(message), onClose);
    const { streamId, customParameters } = target;
    this.#client = dialect.openTextClient(connectionOf(socket), {
      streamId,
      callId: streamId,
      customParameters,
    });
  }

  async run(): Promise<void> {
    const { socket, clock } = this.#options;
    await this.#pause(GREETING_MS);
    if (this.#answer.firstAtMs !== undefined) await this.#hear();
    await this.#try('prompts', async () => {
      await this.#ask();
      await this.#hear();
    });
    await this.#try('interrupt', () => this.#interrupt());
    await this.#try('keys', async () => {
      this.#client.dtmf(DIGIT);
      await this.#pause(REACTION_MS);
    });
    await this.#try('error', async () => {
      sendMessage(socket, JSON.stringify({ type: 'error', description: ERROR }));
      await this.#pause(REACTION_MS);
    });
    if (this.#hasHungUp) await withTimeout(clock, this.#closed, AFTER_END_MS);
    this.#isOver = true;
    socket.close(CLOSE_NORMAL, 'the call has ended');
    await withTimeout(clock, this.#closed, CLOSE_TIMEOUT_MS);
    this.#isLeftOpen = this.#end === undefined;
    if (this.#isLeftOpen) socket.terminate();
  }

  findings(): readonly Finding[] {
    return [
      this.#problems.or(pass('messages', 'all can be read')),
      this.#used('tokens', this.#sent.text),
      this.#answered(),
      this.#problems.or(
        this.#options.hasPartialPrompts
          ? pass('partials', 'the app waits for the prompt with `last`')
          : skipped('partials', '--partial-prompts sends them'),
      ),
      this.#interrupted(),
      this.#used('play', this.#sent.play),
      this.#used('sendDigits', this.#sent.sendDigits),
      this.#used('language', this.#sent.language),
      this.#stays('keys', `the key ${DIGIT}`),
      this.#stays('error', 'a message of type "error"'),
      this.#hangUp(),
      this.#closing(),
    ];
  }

  get #nowMs(): number {
    return Math.round(this.#options.clock.monotonicMs() - this.#startedMs);
  }

  /** The app has ended the call. */
  get #isGone(): boolean {
    return this.#hasHungUp || this.#end?.isApps === true;
  }

  async #try(step: Step, run: () => Promise<void>): Promise<void> {
    if (this.#isGone) return;
    this.#steps.add(step);
    await run();
  }

  async #ask(): Promise<void> {
    const { text, hasPartialPrompts, socket, isListenOnly } = this.#options;
    const words = hasPartialPrompts ? text.split(' ') : [];
    this.#isPartial = true;
    for (let count = 1; count < words.length && !this.#isGone; count++) {
      const voicePrompt = words.slice(0, count).join(' ');
      sendMessage(socket, JSON.stringify({ type: 'prompt', voicePrompt, lang: LANGUAGE, last: false }));
      await this.#pause(PARTIAL_MS);
    }
    this.#isPartial = false;
    this.#answer = { askedAtMs: this.#nowMs, text: '' };
    this.#answers.push(this.#answer);
    this.#client.words(text, LANGUAGE);
    await this.#until(
      () => this.#answer.firstAtMs !== undefined,
      isListenOnly ? REACTION_MS : ANSWER_TIMEOUT_MS,
    );
  }

  /** Waits for the end of an answer that has begun, as long as its tokens come. */
  async #hear(): Promise<void> {
    for (let before = -1; before < this.#sent.text && this.#answer.firstAtMs !== undefined; ) {
      before = this.#sent.text;
      const isHeard = () => this.#answer.completeAtMs !== undefined;
      await this.#until(isHeard, GAP_TIMEOUT_MS);
      if (isHeard() || this.#isGone) return;
    }
  }

  async #interrupt(): Promise<void> {
    await this.#ask();
    if (this.#isGone || this.#answer.firstAtMs === undefined) return;
    this.#interruptedAtMs = this.#nowMs;
    this.#client.interrupted(this.#answer.text.trim(), HEARD_MS);
    await this.#pause(STOP_TIMEOUT_MS + WATCH_MS);
  }

  #pause(durationMs: number): Promise<void> {
    return this.#until(() => false, durationMs);
  }

  /** Waits no longer than the call lasts. */
  async #until(isThere: () => boolean, timeoutMs: number): Promise<void> {
    const there = new Promise<void>((resolve) => {
      this.#look = () => {
        if (this.#isGone || isThere()) resolve();
      };
    });
    this.#look();
    await withTimeout(this.#options.clock, there, timeoutMs);
  }

  #receive(message: StreamMessage): void {
    if (this.#isOver) return;
    if (this.#hasHungUp) this.#problems.add('hang-up', `a message follows "end": ${shown(message)}`);
    const problem = appProblem(message);
    if (problem) this.#problems.add(problem.check, problem.detail);
    this.#client.read(message, this.#handler(message, problem !== undefined));
    this.#look();
  }

  #handler(message: StreamMessage, isReported: boolean): TextBotHandler {
    return {
      say: ({ text, isLast }) => {
        this.#sent.text++;
        this.#onAnswer(text, isLast);
      },
      play: () => {
        this.#sent.play++;
        this.#onAnswer('', true);
      },
      sendDigits: () => void this.#sent.sendDigits++,
      useLanguage: () => void this.#sent.language++,
      end: () => {
        this.#hasHungUp = true;
      },
      malformed: () => {
        if (!isReported) this.#problems.add('messages', `cannot be read: ${shown(message)}`);
      },
    };
  }

  #onAnswer(text: string, isLast: boolean): void {
    if (this.#isPartial) this.#problems.add('partials', 'the app answers before the caller has finished');
    if (this.#nowMs - (this.#interruptedAtMs ?? Number.POSITIVE_INFINITY) > STOP_TIMEOUT_MS)
      this.#lateTokens++;
    this.#answer.firstAtMs ??= this.#nowMs;
    this.#answer.text += text;
    if (isLast) this.#answer.completeAtMs ??= this.#nowMs;
  }

  #used(check: 'tokens' | 'play' | 'sendDigits' | 'language', count: number): Finding {
    return this.#problems.or(count > 0 ? pass(check, `${count} sent`) : skipped(check, 'the app sent none'));
  }

  #answered(): Finding {
    const [first] = this.#answers;
    if (this.#options.isListenOnly) return skipped('answers', 'the app only listens');
    if (first === undefined) return skipped('answers', 'the app ended the call before');
    const missing = this.#answers.find(({ firstAtMs }) => firstAtMs === undefined);
    if (missing && !this.#isGone)
      return fail('answers', `nothing came within ${ANSWER_TIMEOUT_MS} ms after a prompt`);
    const afterMs = (atMs: number | undefined) => `${(atMs ?? 0) - first.askedAtMs} ms`;
    if (first.firstAtMs === undefined)
      return skipped('answers', 'the app ended the call in place of an answer');
    if (first.completeAtMs === undefined && !this.#isGone)
      return fail('answers', 'no token of an answer has "last": true, after which the caller may speak');
    return pass('answers', `${afterMs(first.firstAtMs)} after a prompt`);
  }

  #interrupted(): Finding {
    if (this.#interruptedAtMs === undefined) return skipped('interrupt', 'no answer was interrupted');
    if (this.#lateTokens > 0)
      return fail(
        'interrupt',
        `the app goes on with its answer: ${this.#lateTokens} tokens later than ${STOP_TIMEOUT_MS} ms after it was interrupted`,
      );
    return pass('interrupt', `nothing more of the answer later than ${STOP_TIMEOUT_MS} ms after it`);
  }

  #stays(step: 'keys' | 'error', what: string): Finding {
    if (!this.#steps.has(step)) return skipped(step, 'the app ended the call before');
    const isLast = [...this.#steps].at(-1) === step;
    const { code, isApps } = this.#end ?? {};
    if (isLast && isApps && code !== undefined && !isOrderly(code))
      return fail(step, `the connection ended with ${code} after ${what}`);
    return pass(
      step,
      isLast && this.#isGone ? `the app ended the call after ${what}` : `the connection stays after ${what}`,
    );
  }

  #hangUp(): Finding {
    if (this.#hasHungUp) return this.#problems.or(pass('hang-up', 'by a message of type "end"'));
    if (!this.#end?.isApps) return this.#problems.or(skipped('hang-up', 'the app did not hang up'));
    const detail = `the app closed with ${this.#end.code}`;
    return isOrderly(this.#end.code) ? pass('hang-up', detail) : fail('hang-up', detail);
  }

  #closing(): Finding {
    const { code, isApps } = this.#end ?? {};
    if (isApps) return skipped('closing', 'the app closed first');
    return code === undefined || this.#isLeftOpen
      ? fail('closing', `not closed within ${CLOSE_TIMEOUT_MS} ms after the end of the call`)
      : closed(code);
  }
}
