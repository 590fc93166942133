import type { StreamMessage } from '../../../dialects/dialect.ts';
import type { TextDialect } from '../../../dialects/textDialect.ts';
import { shown } from '../../../dialects/wire/botRules.ts';
import type { StreamTarget } from '../../../media/agentStream/streamClient.ts';
import { CLOSE_NORMAL, sendMessage } from '../../transport/streamSocket.ts';
import { CheckedCall, type CheckedConnection, isOrderly, type Script } from '../checkedCall.ts';
import { type Finding, fail, pass, skipped } from '../finding.ts';
import { connectionOf } from '../sockets.ts';
import { appProblem } from './relayMessages.ts';

export interface TextBotCheck extends CheckedConnection {
  readonly dialect: TextDialect;
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

/** What is tried one after the other, until the app ends the call. */
const STAGES = ['greeting', 'prompts', 'keys', 'error'] as const;

/** What the app says after a prompt. */
interface Answer {
  readonly askedAtMs: number;
  firstAtMs?: number;
  /** The time of the token with `last`. */
  completeAtMs?: number;
  text: string;
}

interface Heard {
  readonly sent: { tokens: number; play: number; sendDigits: number; language: number };
  /** To each prompt. */
  readonly answers: Answer[];
  /** The stage that was begun last. */
  stage: (typeof STAGES)[number];
  isPartial: boolean;
  interruptedAtMs: number;
  /** Tokens of the interrupted answer that come too late. */
  lateTokens: number;
}

/** Plays Twilio's side of a call with a ConversationRelay app, and tells what the app does wrong. Closes the connection. */
export async function checkTextBot(options: TextBotCheck): Promise<readonly Finding[]> {
  const { dialect, socket, clock, target, text, hasPartialPrompts = false, isListenOnly = false } = options;
  const { streamId, customParameters } = target;
  const sent = { tokens: 0, play: 0, sendDigits: 0, language: 0 };
  let answer: Answer = { askedAtMs: 0, text: '' };
  const heard: Heard = {
    ...{ sent, answers: [], stage: 'greeting', isPartial: false, lateTokens: 0 },
    interruptedAtMs: Number.POSITIVE_INFINITY,
  };
  const call = new CheckedCall({ name: 'app', socket, clock, problemOf: appProblem, read });
  const client = dialect.openTextClient(connectionOf(socket), {
    streamId,
    callId: streamId,
    customParameters,
  });

  function addAnswer(token: string, isLast: boolean): void {
    if (heard.isPartial) call.addProblem('partials', 'the app answers before the caller has finished');
    if (call.nowMs - heard.interruptedAtMs > STOP_TIMEOUT_MS) heard.lateTokens++;
    answer.firstAtMs ??= call.nowMs;
    answer.text += token;
    if (isLast) answer.completeAtMs ??= call.nowMs;
  }

  function read(message: StreamMessage, malformed: () => void): void {
    if (call.hasHungUp) call.addProblem('hang-up', `a message follows "end": ${shown(message)}`);
    client.read(message, {
      say: ({ text: token, isLast }) => {
        sent.tokens++;
        addAnswer(token, isLast);
      },
      play: () => {
        sent.play++;
        addAnswer('', true);
      },
      sendDigits: () => void sent.sendDigits++,
      useLanguage: () => void sent.language++,
      end: () => {
        call.hasHungUp = true;
      },
      malformed,
    });
  }

  function* ask(): Script {
    const words = hasPartialPrompts ? text.split(' ') : [];
    heard.isPartial = true;
    for (let count = 1; count < words.length; count++) {
      const voicePrompt = words.slice(0, count).join(' ');
      sendMessage(socket, JSON.stringify({ type: 'prompt', voicePrompt, lang: LANGUAGE, last: false }));
      yield { withinMs: PARTIAL_MS };
    }
    heard.isPartial = false;
    answer = { askedAtMs: call.nowMs, text: '' };
    heard.answers.push(answer);
    client.words(text, LANGUAGE);
    const withinMs = isListenOnly ? REACTION_MS : ANSWER_TIMEOUT_MS;
    yield { withinMs, isMet: () => answer.firstAtMs !== undefined };
  }

  /** Waits for the end of an answer that has begun, as long as its tokens come. */
  function* hear(): Script {
    const isMet = () => answer.completeAtMs !== undefined;
    for (let before = -1; before < sent.tokens && answer.firstAtMs !== undefined && !isMet(); ) {
      before = sent.tokens;
      yield { withinMs: GAP_TIMEOUT_MS, isMet };
    }
  }

  function* talk(): Script {
    yield { withinMs: GREETING_MS };
    yield* hear();
    heard.stage = 'prompts';
    yield* ask();
    yield* hear();
    yield* ask();
    if (answer.firstAtMs !== undefined) {
      heard.interruptedAtMs = call.nowMs;
      client.interrupted(answer.text.trim(), HEARD_MS);
      yield { withinMs: STOP_TIMEOUT_MS + WATCH_MS };
    }
    heard.stage = 'keys';
    client.dtmf(DIGIT);
    yield { withinMs: REACTION_MS };
    heard.stage = 'error';
    sendMessage(socket, JSON.stringify({ type: 'error', description: ERROR }));
    yield { withinMs: REACTION_MS };
  }

  await call.run(talk(), {
    lastWordsMs: AFTER_END_MS,
    hangUp: () => socket.close(CLOSE_NORMAL, 'the call has ended'),
    closeTimeoutMs: CLOSE_TIMEOUT_MS,
  });
  return call.judge(findings(heard, call, options));
}

function findings(heard: Heard, call: CheckedCall, options: TextBotCheck): readonly Finding[] {
  const used = (check: keyof Heard['sent']) =>
    heard.sent[check] > 0 ? pass(check, `${heard.sent[check]} sent`) : skipped(check, 'the app sent none');
  return [
    pass('messages', 'all can be read'),
    used('tokens'),
    options.isListenOnly ? skipped('answers', 'the app only listens') : answered(heard, call),
    options.hasPartialPrompts
      ? pass('partials', 'the app waits for the prompt with `last`')
      : skipped('partials', '--partial-prompts sends them'),
    interrupted(heard),
    used('play'),
    used('sendDigits'),
    used('language'),
    stays('keys', `the key ${DIGIT}`, heard, call),
    stays('error', 'a message of type "error"', heard, call),
    hungUp(call),
    isGone(call) && !call.hasHungUp ? skipped('closing', 'the app closed first') : call.closing(),
  ];
}

/** The app has ended the call. */
function isGone({ hasHungUp, end }: CheckedCall): boolean {
  return hasHungUp || end?.isPeers === true;
}

function answered({ answers, stage }: Heard, call: CheckedCall): Finding {
  if (stage === 'greeting') return call.endedBefore('answers');
  const [first] = answers;
  const isMissing = answers.some(({ firstAtMs }) => firstAtMs === undefined);
  if (isMissing && !isGone(call))
    return fail('answers', `nothing came within ${ANSWER_TIMEOUT_MS} ms after a prompt`);
  if (first?.firstAtMs === undefined)
    return skipped('answers', 'the app ended the call in place of an answer');
  if (first.completeAtMs === undefined && !isGone(call))
    return fail('answers', 'no token of an answer has "last": true, after which the caller may speak');
  return pass('answers', `${first.firstAtMs - first.askedAtMs} ms after a prompt`);
}

function interrupted({ interruptedAtMs, lateTokens }: Heard): Finding {
  if (!Number.isFinite(interruptedAtMs)) return skipped('interrupt', 'no answer was interrupted');
  const late = `${lateTokens} tokens later than ${STOP_TIMEOUT_MS} ms after it was interrupted`;
  return lateTokens > 0
    ? fail('interrupt', `the app goes on with its answer: ${late}`)
    : pass('interrupt', `nothing more of the answer later than ${STOP_TIMEOUT_MS} ms after it`);
}

function stays(check: 'keys' | 'error', what: string, { stage }: Heard, call: CheckedCall): Finding {
  const passedStages = STAGES.indexOf(stage) - STAGES.indexOf(check);
  if (passedStages < 0) return call.endedBefore(check);
  if (passedStages > 0 || !isGone(call)) return pass(check, `the connection stays after ${what}`);
  return call.end?.isPeers && !call.hasHungUp && !isOrderly(call.end.code)
    ? fail(check, `the connection ended with ${call.end.code} after ${what}`)
    : pass(check, `the app ended the call after ${what}`);
}

function hungUp({ hasHungUp, end }: CheckedCall): Finding {
  if (hasHungUp) return pass('hang-up', 'by a message of type "end"');
  if (!end?.isPeers) return skipped('hang-up', 'the app did not hang up');
  const detail = `the app closed with ${end.code}`;
  return isOrderly(end.code) ? pass('hang-up', detail) : fail('hang-up', detail);
}
