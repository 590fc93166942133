import type { TextToSpeech } from '../providers/ports/textToSpeech.ts';
import type { AudioStream } from './audioStream.ts';
import { type FailoverPromptTexts, sendFailoverPrompt } from './speech/failoverPrompt.ts';
import { fallbackPhrasesOf } from './speech/fallbackPhrases.ts';
import { createSpeechCache } from './speech/speechCache.ts';
import { createSpeechSynthesis } from './speech/speechSynthesis.ts';
import type { VoiceReport } from './voiceReport.ts';
import { VoiceSession } from './voiceSession.ts';
import type { VoiceSessionDeps, VoiceSessionOptions } from './voiceSessionDeps.ts';

const DEFAULT_LANGUAGE = 'en';

export interface VoiceSessionServerDeps extends Omit<VoiceSessionDeps, 'stream' | 'source'> {
  readonly textToSpeech: TextToSpeech;
  /** Speaks when the first one cannot; better another voice than silence. */
  readonly fallbackSpeech?: TextToSpeech | undefined;
}

export interface ServeOptions
  extends Pick<VoiceSessionOptions, 'session'>,
    Partial<Omit<VoiceSessionOptions, 'session'>> {
  /**
   * Where the stream's other side seeks another engine when this one dies: what the agent has to say meanwhile.
   * Words of our own serve where it has none, or no language.
   */
  readonly failoverPrompt?: () => Promise<{
    readonly placeholder: string | undefined;
    readonly language: string | undefined;
  }>;
}

/** Turns audio streams into conversations. */
export interface VoiceSessionServer {
  /**
   * Talks on one stream until it is closed. A session that does not exist yet is made.
   *
   * @returns What came of it; rejects only for a stream at a rate that speech cannot be brought to.
   */
  serve(stream: AudioStream, options: ServeOptions): Promise<VoiceReport>;
}

export function createVoiceSessionServer(deps: VoiceSessionServerDeps): VoiceSessionServer {
  const cache = createSpeechCache();
  const { textToSpeech, fallbackSpeech, onError } = deps;
  return {
    async serve(stream, options) {
      const source = createSpeechSynthesis(
        {
          textToSpeech,
          fallback: fallbackSpeech,
          cache,
          clock: deps.clock,
          onFailure: (error) => onError(error, 'speech failed and is tried again'),
        },
        stream.info.sampleRateHz,
      );
      const { failoverPrompt: standby, ...talkOptions } = options;
      const talk = new VoiceSession(
        { ...deps, stream, source },
        { language: DEFAULT_LANGUAGE, detectAnsweringMachine: false, isResumed: false, ...talkOptions },
      );
      const giveUp = standby && sendFailoverPrompt({ ...deps, stream, source }, () => standbyTexts(standby));
      try {
        return await talk.run();
      } finally {
        giveUp?.();
      }
    },
  };
}

async function standbyTexts(
  standby: NonNullable<ServeOptions['failoverPrompt']>,
): Promise<FailoverPromptTexts> {
  const { placeholder, language = DEFAULT_LANGUAGE } = await standby();
  const { moment, apology } = fallbackPhrasesOf(language);
  return { waiting: placeholder ?? moment, apology, language };
}
