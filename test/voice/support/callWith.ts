import type { SpeechConfig } from '../../../src/agents/speech/speechConfig.ts';
import type { Recognizer } from '../../../src/models/ports/recognizer.ts';
import type { Synthesizer } from '../../../src/models/ports/synthesizer.ts';
import type { CallProviders } from '../../../src/models/selection/callProviders.ts';
import { candidate } from '../../models/support/candidate.ts';
import { scriptedRecognizer } from './scriptedRecognizer.ts';
import { scriptedVoice } from './scriptedSpeech.ts';
import { GREETING, nodeWith, type SimulatedCallOptions, simulatedCall } from './simulatedCall.ts';

export const PLACES = [['agent'], ['node']] as const;

/** A call whose agent or node has this speech, by these vendors. */
export function callWith(
  place: 'agent' | 'node',
  speech: SpeechConfig,
  vendors: {
    readonly recognizers?: readonly Recognizer[];
    readonly synthesizers?: readonly Synthesizer[];
    /** The project has credentials of its own for the providers of the settings. */
    readonly hasOwnDefaults?: boolean;
    /** A vendor that has failed for another call. */
    readonly skipped?: Synthesizer;
  },
  more: Partial<SimulatedCallOptions> = {},
) {
  const asked: SpeechConfig[] = [];
  const failed: unknown[] = [];
  const providers: CallProviders = {
    async recognizers(config) {
      asked.push(config);
      return vendors.recognizers ?? [scriptedRecognizer(true)];
    },
    async synthesizers(config) {
      asked.push(config);
      return (vendors.synthesizers ?? [scriptedVoice()]).map((model, index) => ({
        ...candidate(model),
        breaker: String(index),
      }));
    },
    ownDefaults: async () => ({
      recognition: vendors.hasOwnDefaults ?? false,
      synthesis: vendors.hasOwnDefaults ?? false,
    }),
    breakers: {
      isClosed: (key) =>
        vendors.skipped === undefined || vendors.skipped !== vendors.synthesizers?.[Number(key)],
      succeeded: () => undefined,
      failed: (key) => void failed.push(key),
    },
    close: () => undefined,
  };
  const byDefault = scriptedRecognizer(true);
  const call = simulatedCall({
    answer: (index) => (index === 0 ? GREETING : { text: 'Certainly.' }),
    speechToText: byDefault,
    providers,
    agent: { speech: place === 'agent' ? speech : null },
    pathway: nodeWith(place === 'node' ? { speech } : {}),
    ...more,
  });
  return { call, asked, byDefault, failed };
}
