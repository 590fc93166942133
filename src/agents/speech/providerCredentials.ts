import { z } from 'zod';
import { invalid } from '../../base/errors.ts';
import type { Page, PageOf } from '../../base/values/page.ts';
import { checkTarget, type TargetPolicy } from '../../http/target.ts';
import { CREDENTIAL_NAMES, type CredentialName, TWILIO } from '../../vendors/credentials.ts';
import { targetUrl } from '../fields.ts';

const MAX_KEY_CHARACTERS = 1000;
/** The shortest key of which a hint is shown; the hint of a shorter one would reveal too much. */
const MIN_HINTED_CHARACTERS = 12;
const HINT_CHARACTERS = 4;

export const providerName = z.enum(CREDENTIAL_NAMES);

export const providerCredentialsInput = z.strictObject({
  apiKey: z
    .string()
    .min(1)
    .max(MAX_KEY_CHARACTERS)
    .regex(/^[\x21-\x7e]*$/, 'must be printable ASCII without spaces')
    .describe('Of `twilio`, the auth token. Stored encrypted and never shown.'),
  baseUrl: targetUrl
    .optional()
    .describe(
      'The provider’s address, `https://host` without a path; WebSockets use the same host. Default: the installation’s, else the provider’s own.',
    ),
});

export const shownProviderCredentials = z
  .object({
    name: providerName,
    hint: z.string().describe('The end of the key.'),
    baseUrl: z.string().nullable(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'ProviderCredentials' });

export type ShownProviderCredentials = z.infer<typeof shownProviderCredentials>;

/** A project's key for a provider. */
export interface ProviderCredentials {
  readonly name: CredentialName;
  readonly apiKey: string;
  /** An origin. */
  readonly baseUrl: string | null;
  readonly updatedAt: string;
}

export interface ProviderCredentialStore {
  /** Sealed. */
  put(projectId: string, credentials: ProviderCredentials): Promise<void>;
  find(projectId: string, name: CredentialName): Promise<ProviderCredentials | undefined>;
  /** Lists the credentials by name. */
  list(projectId: string, page: Page): Promise<PageOf<ProviderCredentials>>;
  all(projectId: string): Promise<readonly ProviderCredentials[]>;
  remove(projectId: string, name: CredentialName): Promise<boolean>;
}

export function shownCredentials({
  name,
  apiKey,
  baseUrl,
  updatedAt,
}: ProviderCredentials): ShownProviderCredentials {
  const end = apiKey.length < MIN_HINTED_CHARACTERS ? '' : apiKey.slice(-HINT_CHARACTERS);
  return { name, hint: `…${end}`, baseUrl, updatedAt };
}

/** @returns The origin. @throws {CallwayError} 400 `invalid_provider` */
export function requireProviderAddress(name: CredentialName, baseUrl: string, policy: TargetPolicy): string {
  if (name === TWILIO) throw refused('twilio has none: its token only signs audio streams');
  const problem = checkTarget(baseUrl, policy);
  if (problem) throw refused(problem.message);
  const { origin, pathname, search, hash } = new URL(baseUrl);
  if (pathname !== '/' || search !== '' || hash !== '')
    throw refused('the URL must be without a path, such as https://speech.example.com');
  return origin;
}

function refused(message: string) {
  return invalid('invalid_provider', `baseUrl: ${message}`, [{ path: '/baseUrl', message }]);
}
