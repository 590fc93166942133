import type { StreamMessage } from '../../../dialects/dialect.ts';
import type { TextDialect, TextStart } from '../../../dialects/textDialect.ts';
import { shown } from '../../../dialects/wire/botRules.ts';
import { CLOSE_NORMAL, sendMessage } from '../../transport/streamSocket.ts';
import { CheckedCall, type CheckedConnection, type Script } from '../checkedCall.ts';
import { parametersOf } from '../checkGateway.ts';
import { type Finding, fail, pass, skipped } from '../finding.ts';
import { connectionOf } from '../sockets.ts';
import { gatewayProblem } from './relayMessages.ts';

export interface TextGatewayCheck extends CheckedConnection {
  readonly dialect: TextDialect;
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

/** What the gateway has sent. */
interface Heard {
  start?: TextStart;
  partials: number;
  prompts: number;
  interruptions: number;
  digits: string;
  isInvalidSent: boolean;
  /** What the gateway said to the invalid message. */
  fault?: string;
}

/** Plays a ConversationRelay app against a gateway, and tells what the gateway does wrong. Closes the connection. */
export async function checkTextGateway(options: TextGatewayCheck): Promise<readonly Finding[]> {
  const { dialect, socket, clock, durationMs } = options;
  const heard: Heard = { partials: 0, prompts: 0, interruptions: 0, digits: '', isInvalidSent: false };
  /** What the gateway was given to say. */
  let said = '';
  const call = new CheckedCall({ name: 'gateway', socket, clock, problemOf: gatewayProblem, read });
  const server = dialect.openTextServer(connectionOf(socket));

  function say(parts: readonly string[]): void {
    said += ` ${parts.join('')}`;
    for (const [at, text] of parts.entries())
      server.say({ text, isLast: at === parts.length - 1, language: undefined, interruptible: true });
  }

  function readStart(message: StreamMessage): void {
    const start = server.readStart(message);
    if (typeof start !== 'object') {
      call.addProblem('start', `the first message is no "setup": ${shown(message)}`);
      return;
    }
    heard.start = start;
    call.start();
  }

  function read(message: StreamMessage, malformed: () => void): void {
    if (heard.start === undefined) {
      readStart(message);
      return;
    }
    server.read(message, {
      words: (text, _language, isFinal) => {
        heard[isFinal ? 'prompts' : 'partials']++;
        if (isFinal && call.overAtMs === undefined) say([`You said: ${text}`]);
      },
      dtmf: (digit) => {
        heard.digits += digit;
      },
      interrupted: (text) => {
        heard.interruptions++;
        if (!words(said).includes(words(text)))
          call.addProblem('interrupt', `the gateway was never given the words ${JSON.stringify(text)}`);
      },
      played: () => undefined,
      silent: () => undefined,
      fault: (description) => {
        if (!heard.isInvalidSent || heard.fault !== undefined)
          call.addProblem('messages', `the gateway refuses what is right: ${description}`);
        heard.fault ??= description;
      },
      malformed,
    });
  }

  function* talk(): Script {
    yield { withinMs: START_TIMEOUT_MS, isMet: () => heard.start !== undefined };
    if (heard.start === undefined) return;
    say(GREETING);
    yield { atMs: INVALID_AT_MS };
    heard.isInvalidSent = true;
    sendMessage(socket, INVALID_MESSAGE);
    yield { withinMs: ERROR_TIMEOUT_MS, isMet: () => heard.fault !== undefined };
    server.useLanguage(LANGUAGE);
    server.sendDigits(DIGITS);
    yield { atMs: durationMs };
  }

  const hangUp = () => {
    if (heard.start === undefined) socket.close(CLOSE_NORMAL, 'no setup');
    else server.end({ reasonCode: 'hangup', reason: 'the check is over' });
  };
  await call.run(talk(), { hangUp, closeTimeoutMs: CLOSE_TIMEOUT_MS });
  const { start, partials, prompts, interruptions, digits } = heard;
  if (start === undefined)
    return [call.problemOr(fail('start', `no message of type "setup" came within ${START_TIMEOUT_MS} ms`))];
  return call.judge([
    pass('start', parametersOf(start)),
    pass('messages', 'all can be read'),
    partials + prompts > 0
      ? pass('prompts', `${prompts} complete, ${partials} in part`)
      : skipped('prompts', 'the caller said nothing'),
    interruptions > 0
      ? pass('interrupt', `${interruptions}, of words that the gateway was given`)
      : skipped('interrupt', 'the caller interrupted nothing'),
    digits === '' ? skipped('keys', 'none was pressed') : pass('keys', `${digits} was pressed`),
    error(heard, call),
    call.hungUp('a message of type "end"', 'closed after a message of type "end"'),
    call.closing(),
  ]);
}

function error({ isInvalidSent, fault }: Heard, call: CheckedCall): Finding {
  if (!isInvalidSent) return call.endedBefore('error');
  if (fault !== undefined) return pass('error', `“${fault}” of invalid JSON`);
  return call.end?.isPeers
    ? fail('error', `the gateway ended the call with ${call.end.code} at invalid JSON`)
    : fail('error', `no message of type "error" came within ${ERROR_TIMEOUT_MS} ms of invalid JSON`);
}

/** Words as they can be compared: a gateway spaces them as it speaks them. */
function words(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
