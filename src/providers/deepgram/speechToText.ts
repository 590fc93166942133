import type { StreamingSpeechToText } from '../ports/streamingSpeechToText.ts';
import { createSocketRecognizer, type SocketRecognizerDeps } from '../recognition/socketRecognizer.ts';
import { fluxProtocol } from './flux.ts';
import { novaProtocol } from './nova.ts';

const BASE_URL = 'https://api.deepgram.com';

export interface DeepgramSpeechToTextDeps extends SocketRecognizerDeps {
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  /** `flux-…`, which detects turns, or a model of the older protocol such as `nova-3`. Default: Flux, by language. */
  readonly model?: string | undefined;
  readonly options?: unknown;
}

/** @throws {ZodError} When the options are not those of the model. */
export function createDeepgramSpeechToText(deps: DeepgramSpeechToTextDeps): StreamingSpeechToText {
  const { baseUrl = BASE_URL, apiKey, model, options = {} } = deps;
  const settings = { baseUrl, apiKey, options };
  const isFlux = model === undefined || model.startsWith('flux');
  const protocol = isFlux ? fluxProtocol({ ...settings, model }) : novaProtocol({ ...settings, model });
  return createSocketRecognizer(protocol, deps);
}
