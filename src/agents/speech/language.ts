import { languageCode, matchLanguage } from '../../base/values/languageCode.ts';
import { type SpeechConfig, type SynthesisChoice, speechOf } from './speechConfig.ts';

type Given = SpeechConfig | null | undefined;
type Variables = Readonly<Record<string, unknown>>;

/** The speech of a conversation at one moment. */
export interface CurrentSpeech {
  /** The speech configuration with the voice of the language. */
  readonly speech: SpeechConfig;
  /** The language; undefined when nothing names one. */
  readonly language: string | undefined;
  /** The languages that the recognizer tells apart; fewer than two when it need not. */
  readonly languages: readonly string[];
}

/** Returns what is spoken at a node, and heard, by the speech of agent and node. */
export function currentSpeech(agent: Given, node: Given, variables: Variables): CurrentSpeech {
  const config = speechOf(agent, node ?? undefined);
  const language = languageAt(agent, node, variables);
  // A voice that the node names is meant for every language.
  const voices = node?.synthesis?.voice === undefined ? config.voices : node.voices;
  const isPinned = node?.recognition?.language !== undefined;
  return {
    speech: { ...config, synthesis: synthesisIn(language, config.synthesis, voices) },
    language,
    languages: isPinned ? [] : (config.languages ?? []),
  };
}

/** The language of the conversation: the node's own, else the session's, else the agent's. */
export function languageAt(agent: Given, node: Given, variables: Variables): string | undefined {
  if (node?.recognition?.language !== undefined) return node.recognition.language;
  const { language } = variables;
  if (typeof language === 'string' && language !== '') return language;
  const { recognition, languages } = speechOf(agent, node ?? undefined);
  return recognition?.language ?? languages?.[0];
}

/**
 * The language that a person has switched to.
 *
 * @param spoken - The language as the recognizer reports it, such as `zh`.
 * @returns One of `languages`; undefined when the conversation stays in its own.
 */
export function switchedLanguage(spoken: string, { language, languages }: CurrentSpeech): string | undefined {
  const isSame = language !== undefined && languageCode(language) === languageCode(spoken);
  const found = languages.find((tag) => tag.toLowerCase() === spoken.toLowerCase());
  if (found !== undefined) return found.toLowerCase() === language?.toLowerCase() ? undefined : found;
  return isSame ? undefined : matchLanguage(spoken, languages);
}

/** Another provider's settings say nothing of this one. */
function synthesisIn(
  language: string | undefined,
  base: SynthesisChoice | undefined,
  voices: SpeechConfig['voices'] = {},
): SynthesisChoice | undefined {
  const tag = language === undefined ? undefined : matchLanguage(language, Object.keys(voices));
  const voice = tag === undefined ? undefined : voices[tag];
  if (!voice) return base;
  const isOther = voice.provider !== undefined && voice.provider !== base?.provider;
  return isOther ? { speed: base?.speed, ...voice } : { ...base, ...voice };
}
