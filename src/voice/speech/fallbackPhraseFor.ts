import type { TurnInput } from '../../engine/turn/turn.ts';
import type { TurnPolicy } from '../turnDetection/turnPolicy.ts';
import { fallbackPhrasesOf } from './fallbackPhrases.ts';

/** What a channel's own words depend on. */
export interface FallbackPhraseRequest {
  readonly input: TurnInput;
  readonly language: string;
  readonly policy: Pick<TurnPolicy, 'silencePrompts'>;
  /** Silences at this node that were asked about already. */
  readonly prompted: number;
  /** The agent hangs up after it. */
  readonly isLast: boolean;
}

/** What the agent says where the pathway says nothing; undefined where nothing is to be said. */
export function fallbackPhraseFor({
  input,
  language,
  policy,
  prompted,
  isLast,
}: FallbackPhraseRequest): string | undefined {
  const phrases = fallbackPhrasesOf(language);
  switch (input.kind) {
    case 'failure':
      return phrases.apology;
    case 'notice':
      return noticeWords(input.code, phrases);
    case 'transfer_failed':
      return phrases.notConnected;
    case 'silence': {
      if (isLast) return phrases.goodbye;
      const { silencePrompts } = policy;
      return silencePrompts[Math.min(prompted, silencePrompts.length - 1)] ?? phrases.stillThere;
    }
    default:
      return undefined;
  }
}

/** The code of the notice that comes before the agent gives up. */
export const AGENT_FAILED = 'agent_failed';
export const NOT_UNDERSTOOD = 'not_understood';
export const TRANSCRIPTION_FAILED = 'transcription_failed';
/** The talk goes on, on another stream than it began on. */
export const STREAM_RESUMED = 'stream_resumed';

function noticeWords(code: string, phrases: ReturnType<typeof fallbackPhrasesOf>): string {
  if (code === AGENT_FAILED) return phrases.apology;
  if (code === STREAM_RESUMED) return phrases.backAgain;
  return code === NOT_UNDERSTOOD ? phrases.pardon : phrases.useKeys;
}
