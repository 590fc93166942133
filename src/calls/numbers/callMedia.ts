import { z } from 'zod';

import { headerList } from '../../agents/fields.ts';
import { type ClientDialectName, clientDialectName, findDialect } from '../../dialects/index.ts';
import { SIGNATURE_HEADER, twilioSignature } from '../../dialects/twilioSignature.ts';

const MAX_CREDENTIAL_LENGTH = 256;
const isAuthorization = ({ key }: { readonly key: string }) => key.toLowerCase() === 'authorization';

/** The customer's own bot, which gets a call's audio instead of the agent. */
export const callMediaInput = z
  .strictObject({
    url: z.string().max(2000).describe('`wss://…` of your own bot; for `audiosocket`, `tcp://host:port`.'),
    dialect: clientDialectName.describe('The protocol that the bot speaks.'),
    headers: headerList
      .optional()
      .describe('Headers of the request that opens the WebSocket. Stored encrypted and never shown.'),
    username: z
      .string()
      .min(1)
      .max(MAX_CREDENTIAL_LENGTH)
      .optional()
      .describe('For HTTP basic authentication.'),
    password: z.string().max(MAX_CREDENTIAL_LENGTH).optional().describe('Stored encrypted and never shown.'),
  })
  .refine(({ username, password }) => (username === undefined) === (password === undefined), {
    message: 'needs username and password together',
    path: ['username'],
  })
  .refine(({ username, headers = [] }) => username === undefined || !headers.some(isAuthorization), {
    message: 'must not have the header Authorization beside username',
    path: ['headers'],
  })
  .refine(({ username }) => !username?.includes(':'), {
    message: 'must not have a colon',
    path: ['username'],
  })
  .refine(
    ({ dialect, headers, username }) => dialect !== 'audiosocket' || (headers ?? username) === undefined,
    {
      message: 'must be without headers and credentials for audiosocket',
      path: ['dialect'],
    },
  )
  .meta({ id: 'NewCallMedia' });

/** The call's media settings without secrets. */
export const callMedia = z
  .object({ url: z.string(), dialect: clientDialectName, username: z.string().optional() })
  .meta({ id: 'CallMedia' });

export type CallMediaInput = z.output<typeof callMediaInput>;

/** The media settings as stored. */
export interface CallMedia {
  readonly url: string;
  readonly dialect: ClientDialectName;
  readonly username?: string;
  /** The sealed password and headers. */
  readonly sealed?: string;
}

type Secrets = Pick<CallMediaInput, 'headers' | 'password'>;

export function sealMedia(
  { url, dialect, username, password, headers }: CallMediaInput,
  seal: (secret: string) => string,
): CallMedia {
  const secrets: Secrets = { headers, password };
  const hasSecrets = headers !== undefined || password !== undefined;
  return {
    url,
    dialect,
    username,
    sealed: hasSecrets ? seal(JSON.stringify(secrets)) : undefined,
  };
}

export interface MediaHeaderDeps {
  readonly open: (sealed: string) => string;
  /** Returns the project's own token; undefined when it has none. */
  readonly twilioToken: (projectId: string) => Promise<string | undefined>;
}

/** @returns The headers of the request that opens the bot's WebSocket. */
export async function openMediaHeaders(
  projectId: string,
  media: CallMedia,
  { open, twilioToken }: MediaHeaderDeps,
): Promise<Record<string, string>> {
  const token = findDialect(media.dialect).isSignedByTwilio ? await twilioToken(projectId) : undefined;
  const headers = ownHeaders(media, open);
  return token === undefined
    ? headers
    : { [SIGNATURE_HEADER]: twilioSignature(token, media.url), ...headers };
}

function ownHeaders({ username, sealed }: CallMedia, open: MediaHeaderDeps['open']): Record<string, string> {
  if (sealed === undefined) return {};
  const { headers = [], password } = JSON.parse(open(sealed)) as Secrets;
  const own = Object.fromEntries(headers.map(({ key, value }) => [key, value]));
  if (username === undefined) return own;
  const credentials = Buffer.from(`${username}:${password ?? ''}`, 'utf8').toString('base64');
  return { ...own, Authorization: `Basic ${credentials}` };
}
