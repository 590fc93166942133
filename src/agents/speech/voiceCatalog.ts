import { invalid } from '../../base/errors.ts';
import type { SynthesisProvider } from '../../vendors/registry.ts';
import type { SpeechConfig } from './speechConfig.ts';

/** The most voices that one request checks; those of a larger pathway are checked at their first use. */
const MAX_ASKED = 20;

/** Knows the voices of providers that can be asked. */
export interface VoiceCatalog {
  /**
   * Whether the provider has the voice, by the project's credentials. Never rejects.
   *
   * @param provider - Default: the installation's.
   * @returns Whether it has; undefined when the provider cannot be asked, or does not tell.
   */
  has(
    projectId: string,
    provider: SynthesisProvider | undefined,
    voice: string,
  ): Promise<boolean | undefined>;
}

/** @property path - JSON pointer into the request's body. */
export interface NamedVoice {
  readonly path: string;
  readonly provider: SynthesisProvider | undefined;
  readonly voice: string;
}

/** @param inherited - The provider where the configuration names none. */
export function namedVoices(
  { synthesis, voices = {}, fallback }: SpeechConfig,
  path: string,
  inherited?: SynthesisProvider,
): NamedVoice[] {
  const provider = synthesis?.provider ?? inherited;
  const found = [
    { path: `${path}/synthesis/voice`, provider, voice: synthesis?.voice },
    ...Object.entries(voices).map(([tag, named]) => ({
      path: `${path}/voices/${tag}/voice`,
      provider: named.provider ?? provider,
      voice: named.voice,
    })),
    ...(fallback?.synthesis ?? []).map((named, index) => ({
      path: `${path}/fallback/synthesis/${index}/voice`,
      provider: named.provider,
      voice: named.voice,
    })),
  ];
  return found.flatMap(({ voice, ...place }) => (voice === undefined ? [] : [{ ...place, voice }]));
}

/** @throws {CallwayError} 400 `unknown_voice` with the place of each voice that its provider does not have. */
export async function requireKnownVoices(
  catalog: VoiceCatalog,
  projectId: string,
  named: readonly NamedVoice[],
): Promise<void> {
  const checked = named.slice(0, MAX_ASKED).map(async ({ path, provider, voice }) => {
    if ((await catalog.has(projectId, provider, voice)) !== false) return [];
    const of = provider === undefined ? 'the installation’s provider' : provider;
    return [{ path, message: `${path.slice(1).replaceAll('/', '.')}: ${of} has no voice “${voice}”` }];
  });
  const problems = (await Promise.all(checked)).flat();
  const [first] = problems;
  if (first) throw invalid('unknown_voice', first.message, problems);
}
