import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ProviderCredentials } from '../../agents/speech/providerCredentials.ts';
import type { VoiceCatalog } from '../../agents/speech/voiceCatalog.ts';
import { type CredentialName, credentialName } from '../../vendors/credentials.ts';
import type { SynthesisProvider } from '../../vendors/registry.ts';
import { VOICE_LOOKUPS } from '../../vendors/registry.ts';
import type { Credentials } from '../providerOptions.ts';
import type { AskVendor } from '../voiceLookup.ts';

const MAX_KNOWN = 1000;
const KNOWN_MS = 10 * 60_000;

export interface VoiceCatalogDeps {
  readonly defaultProvider: SynthesisProvider;
  /** Returns the installation's credentials. */
  readonly credentials: (name: CredentialName) => Credentials;
  readonly projectCredentials: (projectId: string) => Promise<readonly ProviderCredentials[]>;
  /** Requests voices at the installation's address or at a project's. */
  readonly ask: { readonly installation: AskVendor; readonly project: AskVendor };
}

/** Voices at the vendors; those that were found are known for ten minutes. */
export function createVoiceCatalog(deps: VoiceCatalogDeps): VoiceCatalog {
  const known = new LRUCache<string, true>({ max: MAX_KNOWN, ttl: KNOWN_MS });
  return {
    async has(projectId, provider = deps.defaultProvider, voice) {
      const name = credentialName('tts', provider);
      if (!(provider in VOICE_LOOKUPS) || name === undefined) return undefined;
      const lookUp = await VOICE_LOOKUPS[provider as keyof typeof VOICE_LOOKUPS]();
      const own = (await deps.projectCredentials(projectId)).find((one) => one.name === name);
      const installation = deps.credentials(name);
      const apiKey = own?.apiKey ?? installation.apiKey;
      // Without a key a vendor tells nothing.
      if (apiKey === undefined) return undefined;
      const baseUrl = own?.baseUrl ?? installation.baseUrl;
      const key = hash('sha256', JSON.stringify([provider, apiKey, baseUrl, voice]), 'hex');
      if (known.has(key)) return true;
      const ask = own && own.baseUrl !== null ? deps.ask.project : deps.ask.installation;
      const isKnown = await lookUp({ apiKey, baseUrl }, voice, ask).catch(() => undefined);
      if (isKnown) known.set(key, true);
      return isKnown;
    },
  };
}
