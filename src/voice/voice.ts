import type { TextToSpeech } from '../providers/textToSpeech.ts';
import type { AudioStream } from './audioStream.ts';
import { phrasesOf } from './phrases.ts';
import type { VoiceReport } from './report.ts';
import { createSpeechCache } from './speechCache.ts';
import { createSpeechSource } from './speechSource.ts';
import { leaveStandbyWords, type StandbyTexts } from './standbyWords.ts';
import { Talk } from './talk.ts';
import type { TalkDeps, TalkOptions } from './talkDeps.ts';

const DEFAULT_LANGUAGE = 'en';

export interface VoiceDeps extends Omit<TalkDeps, 'stream' | 'source'> {
  readonly textToSpeech: TextToSpeech;
  /** Speaks when the first one cannot; better another voice than silence. */
  readonly fallbackSpeech?: TextToSpeech | undefined;
}

export interface ServeOptions extends Pick<TalkOptions, 'session'>, Partial<Omit<TalkOptions, 'session'>> {
  /**
   * Where the stream's other side seeks another engine when this one dies: what the agent has to say meanwhile.
   * Words of our own serve where it has none, or no language.
   */
  readonly standby?: () => Promise<{
    readonly placeholder: string | undefined;
    readonly language: string | undefined;
  }>;
}

/** Turns audio streams into conversations. */
export interface Voice {
  /**
   * Talks on one stream until it is closed. A session that does not exist yet is made.
   *
   * @returns What came of it; rejects only for a stream at a rate that speech cannot be brought to.
   */
  serve(stream: AudioStream, options: ServeOptions): Promise<VoiceReport>;
}

export function createVoice(deps: VoiceDeps): Voice {
  const cache = createSpeechCache();
  const { textToSpeech, fallbackSpeech, onError } = deps;
  return {
    async serve(stream, options) {
      const source = createSpeechSource(
        {
          textToSpeech,
          fallback: fallbackSpeech,
          cache,
          clock: deps.clock,
          onFailure: (error) => onError(error, 'speech failed and is tried again'),
        },
        stream.info.sampleRateHz,
      );
      const { standby, ...talkOptions } = options;
      const talk = new Talk(
        { ...deps, stream, source },
        { language: DEFAULT_LANGUAGE, watchForMachines: false, resumes: false, ...talkOptions },
      );
      const giveUp = standby && leaveStandbyWords({ ...deps, stream, source }, () => standbyTexts(standby));
      try {
        return await talk.run();
      } finally {
        giveUp?.();
      }
    },
  };
}

async function standbyTexts(standby: NonNullable<ServeOptions['standby']>): Promise<StandbyTexts> {
  const { placeholder, language = DEFAULT_LANGUAGE } = await standby();
  const { moment, apology } = phrasesOf(language);
  return { waiting: placeholder ?? moment, apology, language };
}
