import type { Credentials } from '../providerOptions.ts';

/** Asks a vendor; the Fetch API, as far as it needs it. */
export type AskVendor = (url: string, headers: Readonly<Record<string, string>>) => Promise<Response>;

/** @returns Undefined where the vendor does not tell. @throws {Error} When it cannot be reached. */
export type VoiceLookup = (
  credentials: Credentials,
  voice: string,
  ask: AskVendor,
) => Promise<boolean | undefined>;

/** What a vendor's answer to the request for one voice means. */
export function foundBy({ ok, status }: Pick<Response, 'ok' | 'status'>): boolean | undefined {
  if (ok) return true;
  return status === 400 || status === 404 ? false : undefined;
}
