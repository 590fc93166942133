import type { Credentials } from './providerOptions.ts';

/** Sends a request to a vendor. It is the part of the Fetch API that is needed. */
export type AskVendor = (url: string, headers: Readonly<Record<string, string>>) => Promise<Response>;

/** @returns Undefined when the vendor does not tell. @throws {Error} When the vendor cannot be reached. */
export type VoiceLookup = (
  credentials: Credentials,
  voice: string,
  ask: AskVendor,
) => Promise<boolean | undefined>;

/** Interprets a vendor's answer to the request for one voice. Returns undefined when the answer does not tell. */
export function foundBy({ ok, status }: Response): boolean | undefined {
  if (ok) return true;
  return status === 400 || status === 404 ? false : undefined;
}
