import { deepgramModel } from '../../models/ports/recognitionLanguages.ts';
import { NOVA_MODEL } from '../../models/ports/speechModels.ts';
import type { StreamingSpeechToText } from '../../models/ports/streamingSpeechToText.ts';
import { FLUX_OPTIONS, isFluxModel, NOVA_OPTIONS } from '../../models/ports/vendorOptions.ts';
import {
  createSocketRecognizer,
  type VendorRecognizerDeps,
} from '../../models/recognition/socketRecognizer.ts';
import { fluxProtocol } from './flux.ts';
import { novaProtocol } from './nova.ts';
import { DEEPGRAM_BASE_URL } from './settings.ts';

/**
 * Creates a recognizer. Flux models detect turns; others, such as `nova-3`, have the older protocol. Default: Flux, or
 * `nova-3` for a language that Flux does not support.
 *
 * @throws {ZodError} When the options are not those of the model.
 */
export function createDeepgramSpeechToText(deps: VendorRecognizerDeps): StreamingSpeechToText {
  const { baseUrl = DEEPGRAM_BASE_URL, apiKey, model, options = {} } = deps;
  const settings = { baseUrl, apiKey, options };
  if (model !== undefined && !isFluxModel(model))
    return createSocketRecognizer(novaProtocol({ ...settings, model }), deps);
  const flux = createSocketRecognizer(fluxProtocol({ ...settings, model }), deps);
  if (model !== undefined) return flux;
  // Options of Flux alone mean nothing to it.
  const shared = Object.entries(FLUX_OPTIONS.parse(options)).filter(([name]) => name in NOVA_OPTIONS.shape);
  const nova = novaProtocol({ ...settings, model: NOVA_MODEL, options: Object.fromEntries(shared) });
  const other = createSocketRecognizer(nova, deps);
  return {
    ...flux,
    select({ language, languages = language === undefined ? [] : [language] }) {
      return deepgramModel(languages) === NOVA_MODEL ? other : flux;
    },
    async close() {
      await Promise.all([flux.close(), other.close()]);
    },
  };
}
