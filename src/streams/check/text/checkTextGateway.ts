import { withTimeout } from '../../../base/async/withTimeout.ts';
import type { Clock } from '../../../base/values/clock.ts';
import type { StreamMessage } from '../../../dialects/dialect.ts';
import type {
  TextDialect,
  TextGatewayHandler,
  TextServer,
  TextStart,
} from '../../../dialects/textDialect.ts';
import { shown } from '../../../dialects/wire/botRules.ts';
import { CLOSE_NORMAL, type StreamSocket, sendMessage } from '../../transport/streamSocket.ts';
import { closed, type Finding, fail, Problems, pass, skipped } from '../finding.ts';
import { connectionOf, follow } from '../sockets.ts';
import { gatewayProblem } from './relayMessages.ts';

export interface TextGatewayCheck {
  readonly dialect: TextDialect;
  /** Open, from the gateway. */
  readonly socket: StreamSocket;
  readonly clock: Clock;
  readonly durationMs: number;
}

const START_TIMEOUT_MS = 5000;
const GREETING = ['This is a check ', 'of a gateway. ', 'Please say something.'];
const INVALID_AT_MS = 2000;
const ERROR_TIMEOUT_MS = 2000;
const INVALID_MESSAGE = '{"type":"text","token":';
const LANGUAGE = 'en-US';
const DIGITS = '1';
const CLOSE_TIMEOUT_MS = 5000;

/** Plays a ConversationRelay app against a gateway, and tells what the gateway does wrong. Closes the connection. */
export async function checkTextGateway(options: TextGatewayCheck): Promise<readonly Finding[]> {
  const call = new AppCall(options);
  await call.run();
  return call.findings();
}

class AppCall {
  readonly #options: TextGatewayCheck;
  readonly #server: TextServer;
  readonly #problems = new Problems();
  readonly #started: Promise<void>;
  readonly #closed: Promise<void>;
  #resolveStarted: () => void = () => undefined;
  #resolveFault: () => void = () => undefined;
  #start: TextStart | undefined;
  #startedAtMs = 0;
  /** What the gateway was given to say. */
  #said = '';
  readonly #prompts = { partial: 0, final: 0 };
  #interruptions = 0;
  #digits = '';
  #isInvalidSent = false;
  /** What the gateway said to the invalid message. */
  #fault: string | undefined;
  #hasEnded = false;
  #isLeftOpen = false;
  #end: { readonly code: number; readonly atMs: number } | undefined;

  constructor(options: TextGatewayCheck) {
    const { dialect, socket } = options;
    this.#options = options;
    this.#server = dialect.openTextServer(connectionOf(socket));
    this.#started = new Promise((resolve) => {
      this.#resolveStarted = resolve;
    });
    const onClose = (code: number) => {
      this.#end = { code, atMs: this.#nowMs };
      this.#resolveStarted();
      this.#resolveFault();
    };
    this.#closed = follow(socket, (message) => this.#receive(message), onClose);
  }

  async run(): Promise<void> {
    const { clock, socket } = this.#options;
    await withTimeout(clock, this.#started, START_TIMEOUT_MS);
    if (this.#start !== undefined) await this.#talk();
    else socket.close(CLOSE_NORMAL, 'no setup');
    await withTimeout(clock, this.#closed, CLOSE_TIMEOUT_MS);
    this.#isLeftOpen = this.#end === undefined;
    if (this.#isLeftOpen) socket.terminate();
  }

  findings(): readonly Finding[] {
    if (this.#start === undefined)
      return [
        this.#problems.or(fail('start', `no message of type "setup" came within ${START_TIMEOUT_MS} ms`)),
      ];
    const names = Object.keys(this.#start.customParameters);
    const parameters = names.length === 0 ? 'no custom parameters' : `custom parameters: ${names.join(', ')}`;
    const { partial, final } = this.#prompts;
    return [
      this.#problems.or(pass('start', parameters)),
      this.#problems.or(pass('messages', 'all can be read')),
      this.#problems.or(
        partial + final > 0
          ? pass('prompts', `${final} complete, ${partial} in part`)
          : skipped('prompts', 'the caller said nothing'),
      ),
      this.#problems.or(
        this.#interruptions > 0
          ? pass('interrupt', `${this.#interruptions}, of words that the gateway was given`)
          : skipped('interrupt', 'the caller interrupted nothing'),
      ),
      this.#problems.or(
        this.#digits === ''
          ? skipped('keys', 'none was pressed')
          : pass('keys', `${this.#digits} was pressed`),
      ),
      this.#error(),
      this.#hangUp(),
      this.#closing(),
    ];
  }

  /** Since the setup. */
  get #nowMs(): number {
    return Math.round(this.#options.clock.monotonicMs() - this.#startedAtMs);
  }

  async #talk(): Promise<void> {
    const { socket, clock, durationMs } = this.#options;
    this.#say(GREETING);
    await this.#until(INVALID_AT_MS);
    if (this.#end !== undefined) return;
    const fault = new Promise<void>((resolve) => {
      this.#resolveFault = resolve;
    });
    this.#isInvalidSent = true;
    sendMessage(socket, INVALID_MESSAGE);
    await withTimeout(clock, fault, ERROR_TIMEOUT_MS);
    if (this.#end !== undefined) return;
    this.#server.useLanguage(LANGUAGE);
    this.#server.sendDigits(DIGITS);
    await this.#until(durationMs);
    if (this.#end !== undefined) return;
    this.#hasEnded = true;
    this.#server.end({ reasonCode: 'hangup', reason: 'the check is over' });
  }

  #say(parts: readonly string[]): void {
    this.#said += ` ${parts.join('')}`;
    for (const [at, text] of parts.entries())
      this.#server.say({
        text,
        isLast: at === parts.length - 1,
        language: undefined,
        interruptible: true,
      });
  }

  async #until(atMs: number): Promise<void> {
    await withTimeout(this.#options.clock, this.#closed, Math.max(0, atMs - this.#nowMs));
  }

  #receive(message: StreamMessage): void {
    const problem = gatewayProblem(message);
    if (problem) this.#problems.add(problem.check, problem.detail);
    if (this.#start !== undefined) {
      this.#server.read(message, this.#handler(message, problem !== undefined));
      return;
    }
    const start = this.#server.readStart(message);
    if (start === undefined || typeof start === 'string') {
      this.#problems.add('start', `the first message is no "setup": ${shown(message)}`);
      return;
    }
    this.#start = start;
    this.#startedAtMs = this.#options.clock.monotonicMs();
    this.#resolveStarted();
  }

  #handler(message: StreamMessage, isReported: boolean): TextGatewayHandler {
    return {
      words: (text, _language, isFinal) => {
        this.#prompts[isFinal ? 'final' : 'partial']++;
        if (isFinal && !this.#hasEnded) this.#say([`You said: ${text}`]);
      },
      dtmf: (digit) => {
        this.#digits += digit;
      },
      interrupted: (heard) => {
        this.#interruptions++;
        if (!words(this.#said).includes(words(heard)))
          this.#problems.add('interrupt', `the gateway was never given the words ${JSON.stringify(heard)}`);
      },
      played: () => undefined,
      silent: () => undefined,
      fault: (description) => this.#onFault(description),
      malformed: () => {
        if (!isReported) this.#problems.add('messages', `cannot be read: ${shown(message)}`);
      },
    };
  }

  #onFault(description: string): void {
    const isOfInvalid = this.#isInvalidSent && this.#fault === undefined;
    if (!isOfInvalid) this.#problems.add('messages', `the gateway refuses what is right: ${description}`);
    this.#fault ??= description;
    this.#resolveFault();
  }

  #error(): Finding {
    if (!this.#isInvalidSent) return skipped('error', 'the gateway ended the call before');
    if (this.#fault !== undefined)
      return this.#problems.or(pass('error', `“${this.#fault}” of invalid JSON`));
    return this.#end !== undefined && !this.#hasEnded
      ? fail('error', `the gateway ended the call with ${this.#end.code} at invalid JSON`)
      : fail('error', `no message of type "error" came within ${ERROR_TIMEOUT_MS} ms of invalid JSON`);
  }

  #hangUp(): Finding {
    if (!this.#hasEnded) return skipped('hang-up', 'the gateway ended the call before');
    return this.#isLeftOpen
      ? fail('hang-up', `not closed within ${CLOSE_TIMEOUT_MS} ms after a message of type "end"`)
      : pass('hang-up', 'closed after a message of type "end"');
  }

  #closing(): Finding {
    return this.#isLeftOpen || this.#end === undefined
      ? fail('closing', `not closed within ${CLOSE_TIMEOUT_MS} ms after the end of the call`)
      : closed(this.#end.code);
  }
}

/** Words as they can be compared: a gateway spaces them as it speaks them. */
function words(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
