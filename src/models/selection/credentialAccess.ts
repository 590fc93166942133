import type { ProviderCredentials } from '../../agents/speech/providerCredentials.ts';
import type { TargetGuard } from '../../http/lookup.ts';
import type { KeyOwner } from '../ports/metrics.ts';
import type { Credentials } from '../providerOptions.ts';

/** The credentials with which a vendor is opened, and whose they are. */
export interface Access {
  readonly credentials: Credentials;
  readonly owner: KeyOwner;
  /** Checks the address, when a project has configured it. */
  readonly guard: TargetGuard | undefined;
}

/**
 * A project's own credentials precede the installation's, whose address holds where the project has only a key.
 *
 * @param name - The name of the vendor's credentials; undefined for a vendor without a key.
 * @param own - The project's credentials.
 */
export function accessOf(
  name: ProviderCredentials['name'] | undefined,
  own: readonly ProviderCredentials[],
  installation: Credentials,
  guard: TargetGuard,
): Access {
  const project = own.find((one) => one.name === name);
  if (!project) return { credentials: installation, owner: 'installation', guard: undefined };
  const { apiKey, baseUrl } = project;
  return {
    credentials: { apiKey, baseUrl: baseUrl ?? installation.baseUrl },
    owner: 'project',
    guard: baseUrl === null ? undefined : guard,
  };
}
