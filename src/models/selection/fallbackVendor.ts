import { omitUndefined } from '../../base/values/omitUndefined.ts';
import { isStreaming, type Recognizer } from '../ports/recognizer.ts';
import type { RecognitionConnectionOptions, StreamingSpeechToText } from '../ports/streamingSpeechToText.ts';
import { type Synthesizer, takesWords } from '../ports/synthesizer.ts';

/*
 * A provider of `fallback` is told what a call's first one is told, unless its entry says otherwise.
 */

export interface OwnHints {
  readonly language?: string | undefined;
  readonly keyterms?: readonly string[] | undefined;
}

export function withOwnHints(recognizer: Recognizer, { language, keyterms }: OwnHints): Recognizer {
  if (language === undefined && keyterms === undefined) return recognizer;
  const own = omitUndefined({ keyterms });
  const hints = language === undefined ? own : { ...own, language, languages: undefined };
  return isStreaming(recognizer)
    ? {
        ...withHints(recognizer, hints),
        select: (options) => withHints(recognizer.select?.({ ...options, ...hints }) ?? recognizer, hints),
      }
    : {
        ...recognizer,
        openStream: (options) => recognizer.openStream({ ...options, ...hints }),
      };
}

function withHints(
  recognizer: StreamingSpeechToText,
  hints: Partial<RecognitionConnectionOptions>,
): StreamingSpeechToText {
  return {
    ...recognizer,
    connect: (options, onEvent) => recognizer.connect({ ...options, ...hints }, onEvent),
  };
}

export function withOwnSpeed(synthesizer: Synthesizer, speed: number | undefined): Synthesizer {
  if (speed === undefined) return synthesizer;
  if (!takesWords(synthesizer))
    return {
      ...synthesizer,
      synthesize: (request, signal) => synthesizer.synthesize({ ...request, speed }, signal),
    };
  return {
    ...synthesizer,
    connect(voice) {
      const connection = synthesizer.connect({ ...voice, speed });
      return {
        speak: (spoken, onEvent) => connection.speak({ ...spoken, speed }, onEvent),
        close: () => connection.close(),
      };
    },
  };
}
