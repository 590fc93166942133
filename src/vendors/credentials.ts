import {
  CHAT_ENDPOINTS,
  type ChatEndpoint,
  ENGINE_PROVIDERS,
  engineCredentialName,
} from '../models/ports/providerNames.ts';
import {
  RECOGNITION_PROVIDERS,
  type RecognitionProvider,
  type SpeechVendor,
  SYNTHESIS_PROVIDERS,
  type SynthesisProvider,
} from './registry.ts';

/** A carrier, whose token signs audio streams. */
export const TWILIO = 'twilio';

type KeyedVendor = Exclude<SpeechVendor | ChatEndpoint, 'local' | 'custom'>;

/** A vendor's credentials have its name; servers of one's own differ by what they do. */
export type CredentialName = KeyedVendor | 'custom_stt' | 'custom_tts' | 'custom_s2s' | typeof TWILIO;

/** The names of all providers that take a key. */
export const CREDENTIAL_NAMES: readonly CredentialName[] = [
  ...new Set<CredentialName | undefined>([
    ...RECOGNITION_PROVIDERS.map((name) => credentialName('stt', name)),
    ...SYNTHESIS_PROVIDERS.map((name) => credentialName('tts', name)),
    ...CHAT_ENDPOINTS.map((name) => credentialName('chat', name)),
    ...ENGINE_PROVIDERS.map(engineCredentialName),
    TWILIO,
  ]),
].filter((name) => name !== undefined);

/** @returns Undefined for a provider without credentials. */
export function credentialName(
  kind: 'stt' | 'tts' | 'chat',
  provider: RecognitionProvider | SynthesisProvider | ChatEndpoint,
): CredentialName | undefined {
  if (provider === 'local') return undefined;
  if (provider !== 'custom') return provider;
  return kind === 'stt' ? 'custom_stt' : 'custom_tts';
}
