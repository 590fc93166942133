import type { VoiceReport } from '../../../src/voice/voiceSession.ts';
import type { SimulatedCall } from '../support/simulatedCall.ts';
import type { HeardWord, WordCaller, WordVoice } from './wordSpeech.ts';

/** Share of a word that makes it whole; a stop may truncate it. */
const WHOLE = 0.95;

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}-]+/gu) ?? [];

export interface Conditions {
  /** Speech is recognized, and is a person's. */
  readonly isRecognized: boolean;
  /** Whether the agent had the call all the time between, in milliseconds of the stream. */
  readonly hadAgent: (fromMs: number, toMs: number) => boolean;
}

/** Checks that the history has what the caller said, once and in order. */
export function judgeCaller(
  call: SimulatedCall,
  caller: WordCaller,
  { isRecognized, hadAgent }: Conditions,
): string[] {
  const said = caller.wordsIn(call.stream.callerAudio()).filter(({ share }) => share === 1);
  const stored = messagesOf(call, 'user').flatMap((text) =>
    wordsOf(text).filter((word) => /\p{L}/u.test(word)),
  );
  const problems: string[] = [];
  for (const { word, fromMs, toMs } of said) {
    const times = stored.filter((one) => one === word).length;
    const isRequired = isRecognized && word.startsWith('said') && hadAgent(fromMs, toMs);
    if (times === 0 && isRequired) problems.push(`lost: ${word}`);
    if (times > said.filter((one) => one.word === word).length) problems.push(`${times} times: ${word}`);
  }
  const order = said.map(({ word }) => word).filter((word) => stored.includes(word));
  const known = stored.filter((word) => order.includes(word));
  if (order.join(' ') !== known.join(' ')) problems.push(`order: ${known.join(' ')}`);
  return problems;
}

/** Checks that the history has what the caller heard of the agent, within a word at a stop. */
export function judgeAgent(call: SimulatedCall, voice: WordVoice): string[] {
  const heard = voice.wordsIn(call.stream.agentAudio()).filter(({ share }) => share > 0.05);
  const stored = messagesOf(call, 'assistant').flatMap(wordsOf);
  return differences(heard, stored);
}

/** Runs of two or more words that only one of the two has. */
function differences(spoken: readonly HeardWord[], stored: readonly string[]): string[] {
  const words = spoken.map(({ word }) => wordsOf(word)[0] ?? '');
  const common = commonLengths(words, stored);
  const at = (one: number, other: number) => common[one]?.[other] ?? 0;
  const problems: string[] = [];
  let [one, other] = [0, 0];
  while (one < words.length || other < stored.length) {
    const [heardFrom, storedFrom] = [one, other];
    while ((one < words.length || other < stored.length) && words[one] !== stored[other]) {
      if (one < words.length && at(one + 1, other) >= at(one, other + 1)) one += 1;
      else if (other < stored.length) other += 1;
      else one += 1;
    }
    const heard = spoken.slice(heardFrom, one).filter(({ share }) => share > WHOLE);
    const unheard = stored.slice(storedFrom, other);
    if (heard.length > 1) problems.push(`heard, not stored: ${heard.map(({ word }) => word).join(' ')}`);
    if (unheard.length > 1) problems.push(`stored, not heard: ${unheard.join(' ')}`);
    one += 1;
    other += 1;
  }
  return problems;
}

/** Lengths of the longest common subsequences of all suffixes. */
function commonLengths(words: readonly string[], others: readonly string[]): number[][] {
  const lengths = Array.from({ length: words.length + 1 }, () =>
    new Array<number>(others.length + 1).fill(0),
  );
  for (let one = words.length - 1; one >= 0; one--) {
    const [row = [], next = []] = [lengths[one], lengths[one + 1]];
    for (let other = others.length - 1; other >= 0; other--) {
      const isSame = words[one] === others[other];
      row[other] = isSame ? 1 + (next[other + 1] ?? 0) : Math.max(next[other] ?? 0, row[other + 1] ?? 0);
    }
  }
  return lengths;
}

export function judgeReport(call: SimulatedCall, report: VoiceReport): string[] {
  const events = call.memory.events().filter(({ type }) => type === 'barge_in').length;
  return events === report.interruptions ? [] : [`${report.interruptions} interruptions, ${events} events`];
}

function messagesOf(call: SimulatedCall, role: string): string[] {
  return call.memory.records.flatMap(({ messages }) =>
    messages.flatMap((message) =>
      message.role === role && !message.internal ? [String(message.content ?? '')] : [],
    ),
  );
}
