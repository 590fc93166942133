import type { StreamingSpeechToText } from '../ports/streamingSpeechToText.ts';
import { isFluxModel } from '../ports/vendorOptions.ts';
import { createSocketRecognizer, type VendorRecognizerDeps } from '../recognition/socketRecognizer.ts';
import { fluxProtocol } from './flux.ts';
import { novaProtocol } from './nova.ts';
import { DEEPGRAM_BASE_URL } from './settings.ts';

/**
 * Flux models detect turns; others, such as `nova-3`, have the older protocol. Default: Flux, by the language.
 *
 * @throws {ZodError} When the options are not those of the model.
 */
export function createDeepgramSpeechToText(deps: VendorRecognizerDeps): StreamingSpeechToText {
  const { baseUrl = DEEPGRAM_BASE_URL, apiKey, model, options = {} } = deps;
  const settings = { baseUrl, apiKey, options };
  const protocol =
    model === undefined || isFluxModel(model)
      ? fluxProtocol({ ...settings, model })
      : novaProtocol({ ...settings, model });
  return createSocketRecognizer(protocol, deps);
}
