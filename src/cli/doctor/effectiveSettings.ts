import { z } from 'zod';

import { REDACTED } from '../../app/settings/describe.ts';
import { ConfigurationError } from '../../base/configurationError.ts';
import type { CliContext } from '../command.ts';
import { CommandError } from '../command.ts';
import { type Connection, connect } from '../connection.ts';
import { type Finding, ok, warn } from './finding.ts';

const TIMEOUT_MS = 5_000;
const NAME = 'settings';

const response = z.object({ settings: z.record(z.string(), z.string()) });

type Environment = CliContext['environment'];

/** The settings that are checked. */
export interface EffectiveSettings {
  readonly environment: Environment;
  /** Secrets that the service has and this shell has not: what needs them cannot be checked from here. */
  readonly unknown: ReadonlySet<string>;
  readonly finding: Finding;
  /** The connection to the service that reported its settings. */
  readonly service?: Connection;
}

/**
 * The settings of the running service where it tells them, with the secrets of this shell; else the settings of this
 * shell.
 *
 * @param url - The option `--url`.
 * @see `GET /v1/settings`
 */
export async function effectiveSettings(
  environment: Environment,
  url: string | undefined,
  fetchImpl: typeof fetch,
): Promise<EffectiveSettings> {
  const own = { environment, unknown: new Set<string>() };
  let connection: Connection;
  try {
    connection = await connect({ environment }, url);
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof ConfigurationError)) throw error;
    return { ...own, finding: ok(NAME, 'of this shell: all are valid') };
  }
  const answer = await ask(connection, fetchImpl);
  if (answer === 'not running') return { ...own, finding: ok(NAME, 'of this shell: all are valid') };
  if (answer === undefined) {
    const message = `of this shell, not of the service at ${connection.url}, which does not tell its own`;
    const remedy = 'Run this as the service’s user with the same DATA_DIR, or set CALLWAY_ADMIN_TOKEN.';
    return { ...own, finding: warn(NAME, message, remedy) };
  }
  const secrets = Object.keys(answer).filter((name) => answer[name] === REDACTED);
  const fromShell = Object.fromEntries(secrets.map((name) => [name, environment[name]]));
  return {
    environment: { ...answer, ...fromShell },
    unknown: new Set(secrets.filter((name) => !environment[name]?.trim())),
    service: connection,
    finding: ok(NAME, `of the service at ${connection.url}`),
  };
}

/** @returns The service's answer; undefined when it does not tell. */
async function ask(
  { url, token }: Connection,
  fetchImpl: typeof fetch,
): Promise<Record<string, string> | 'not running' | undefined> {
  const headers = { authorization: `Bearer ${token}` };
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetchImpl(`${url}/v1/settings`, { headers, signal, redirect: 'manual' });
    const parsed = response.safeParse(JSON.parse(await answer.text()));
    return answer.ok && parsed.success ? parsed.data.settings : undefined;
  } catch (error) {
    return error instanceof SyntaxError ? undefined : 'not running';
  }
}
