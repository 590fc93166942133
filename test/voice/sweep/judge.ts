import type { VoiceReport } from '../../../src/voice/voiceSession.ts';
import type { SimulatedCall } from '../support/simulatedCall.ts';
import type { SoundedWord, WordCaller, WordVoice } from './wordSpeech.ts';

/** Less of a word is none: it was stopped in it. */
const WHOLE = 0.95;

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}-]+/gu) ?? [];

export interface Hearing {
  /** Words can be recognised, and are a person's. */
  readonly isHeard: boolean;
  /** The call was the agent's all the time between, in milliseconds of the stream. */
  readonly isAgents: (fromMs: number, toMs: number) => boolean;
}

/** What the caller said is history, once and in order. */
export function judgeCaller(
  call: SimulatedCall,
  caller: WordCaller,
  { isHeard, isAgents }: Hearing,
): string[] {
  const said = caller.wordsIn(call.stream.callerAudio()).filter(({ share }) => share === 1);
  const kept = messagesOf(call, 'user').flatMap((text) =>
    wordsOf(text).filter((word) => /\p{L}/u.test(word)),
  );
  const problems: string[] = [];
  for (const { word, fromMs, toMs } of said) {
    const times = kept.filter((one) => one === word).length;
    const isOwed = isHeard && word.startsWith('said') && isAgents(fromMs, toMs);
    if (times === 0 && isOwed) problems.push(`lost: ${word}`);
    if (times > said.filter((one) => one.word === word).length) problems.push(`${times} times: ${word}`);
  }
  const order = said.map(({ word }) => word).filter((word) => kept.includes(word));
  const known = kept.filter((word) => order.includes(word));
  if (order.join(' ') !== known.join(' ')) problems.push(`order: ${known.join(' ')}`);
  return problems;
}

/** What the agent is said to have said is what sounded, within a word where it was stopped. */
export function judgeAgent(call: SimulatedCall, voice: WordVoice): string[] {
  const sounded = voice.wordsIn(call.stream.agentAudio()).filter(({ share }) => share > 0.05);
  const kept = messagesOf(call, 'assistant').flatMap(wordsOf);
  return differences(sounded, kept);
}

/** Runs of two words and more that one side has and the other has not. */
function differences(sounded: readonly SoundedWord[], kept: readonly string[]): string[] {
  const words = sounded.map(({ word }) => wordsOf(word)[0] ?? '');
  const common = commonLengths(words, kept);
  const at = (one: number, other: number) => common[one]?.[other] ?? 0;
  const problems: string[] = [];
  let [one, other] = [0, 0];
  while (one < words.length || other < kept.length) {
    const [heardFrom, toldFrom] = [one, other];
    while ((one < words.length || other < kept.length) && words[one] !== kept[other]) {
      if (one < words.length && at(one + 1, other) >= at(one, other + 1)) one += 1;
      else if (other < kept.length) other += 1;
      else one += 1;
    }
    const heard = sounded.slice(heardFrom, one).filter(({ share }) => share > WHOLE);
    const told = kept.slice(toldFrom, other);
    if (heard.length > 1) problems.push(`sounded, no history: ${heard.map(({ word }) => word).join(' ')}`);
    if (told.length > 1) problems.push(`history, did not sound: ${told.join(' ')}`);
    one += 1;
    other += 1;
  }
  return problems;
}

/** How many words the rests of both have in common, in their order. */
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
  const told = call.memory.events().filter(({ type }) => type === 'barge_in').length;
  return told === report.interruptions ? [] : [`${report.interruptions} cut in, ${told} events`];
}

function messagesOf(call: SimulatedCall, role: string): string[] {
  return call.memory.records.flatMap(({ messages }) =>
    messages.flatMap((message) =>
      message.role === role && !message.internal ? [String(message.content ?? '')] : [],
    ),
  );
}
