import type { StreamingSpeechToText } from '../ports/streamingSpeechToText.ts';
import { createSocketRecognizer, type SocketRecognizerDeps } from '../recognition/socketRecognizer.ts';
import { fluxProtocol } from './flux.ts';
import { novaProtocol } from './nova.ts';

const BASE_URL = 'https://api.deepgram.com';
const DEFAULT_MODEL = 'flux-general-en';

export interface DeepgramSpeechToTextDeps extends SocketRecognizerDeps {
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  /** `flux-…`, which detects turns, or a model of the older protocol such as `nova-3`. */
  readonly model?: string | undefined;
  readonly options?: unknown;
}

/** @throws {ZodError} When the options are not those of the model. */
export function createDeepgramSpeechToText(deps: DeepgramSpeechToTextDeps): StreamingSpeechToText {
  const { baseUrl = BASE_URL, apiKey, model = DEFAULT_MODEL, options = {} } = deps;
  const settings = { baseUrl, apiKey, model, options };
  return createSocketRecognizer(
    model.startsWith('flux') ? fluxProtocol(settings) : novaProtocol(settings),
    deps,
  );
}
