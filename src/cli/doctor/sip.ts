import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Config } from '../../app/settings/config.ts';
import { DAY_MS } from '../../base/values/clock.ts';
import { trunkHealth } from '../../calls/trunks/trunk.ts';
import type { Connection } from '../connection.ts';
import { failureReason } from '../connectionFailure.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const TIMEOUT_MS = 5_000;
/** The alert on the HTTPS certificate has the same limit. */
const WARN_BEFORE_DAYS = 14;
const PAGE = 'limit=200';

type Settings = Pick<
  Config,
  'SIP_HOST' | 'SIP_PORT' | 'SIP_TLS_PORT' | 'SIP_TLS_CERT_FILE' | 'PUBLIC_IP' | 'DRACHTIO_URL'
>;

const projects = z.object({ data: z.array(z.object({ id: z.string(), name: z.string() })) });
const trunks = z.object({
  data: z.array(
    z.object({ name: z.string(), host: z.string(), status: z.string(), health: trunkHealth.loose() }),
  ),
});

/** Port, certificate and public address of the embedded SIP server. */
export function checkSipSettings(config: Settings, nowMs: number): Finding[] {
  const { SIP_HOST, SIP_PORT, SIP_TLS_PORT, SIP_TLS_CERT_FILE, PUBLIC_IP, DRACHTIO_URL } = config;
  if (DRACHTIO_URL !== undefined) return [];
  const tls = SIP_TLS_PORT === undefined ? 'no TLS' : `TLS on ${SIP_TLS_PORT}`;
  const address = PUBLIC_IP ?? `${SIP_HOST}; without PUBLIC_IP peers behind another router have no audio`;
  return [
    ok('SIP port', `${SIP_HOST}:${SIP_PORT} for UDP and TCP, ${tls}`),
    ...(SIP_TLS_PORT === undefined ? [] : [checkCertificate(SIP_TLS_CERT_FILE ?? '', nowMs)]),
    ok('SIP address', `peers are told ${address}`),
  ];
}

function checkCertificate(file: string, nowMs: number): Finding {
  const name = 'SIP certificate';
  const remedy =
    'Renew it, and set SIP_TLS_CERT_FILE and SIP_TLS_KEY_FILE to it; the service reads it at its start.';
  try {
    const { validTo, subjectAltName = 'no name' } = new X509Certificate(readFileSync(file));
    const days = Math.floor((Date.parse(validTo) - nowMs) / DAY_MS);
    const message = `${file} for ${subjectAltName}, until ${validTo}`;
    if (days < 0) return fail(name, message, remedy);
    return days < WARN_BEFORE_DAYS ? warn(name, message, remedy) : ok(name, message);
  } catch (error) {
    return fail(name, `${file} cannot be read (${failureReason(error)})`, remedy);
  }
}

/** Whether each active trunk of the running service is reachable and registered. */
export async function checkTrunks(connection: Connection, fetchImpl: typeof fetch): Promise<Finding[]> {
  const read = async <Schema extends z.ZodType>(path: string, schema: Schema) => {
    const response = await fetchImpl(`${connection.url}${path}?${PAGE}`, {
      headers: { authorization: `Bearer ${connection.token}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return schema.parse(await response.json());
  };
  try {
    const { data: found } = await read('/v1/projects', projects);
    const findings: Finding[] = [];
    for (const { id, name } of found) {
      const { data } = await read(`/v1/projects/${encodeURIComponent(id)}/trunks`, trunks);
      const active = data.filter(({ status }) => status === 'active');
      findings.push(...active.map((trunk) => trunkFinding(name, trunk)));
    }
    return findings;
  } catch (error) {
    const remedy = 'Set CALLWAY_ADMIN_TOKEN to the admin token of the service.';
    return [warn('trunks', `cannot be read from the service (${failureReason(error)})`, remedy)];
  }
}

function trunkFinding(
  project: string,
  { name, host, health: { reachable, registered, error } }: z.output<typeof trunks>['data'][number],
): Finding {
  const states = [
    reachable === null ? 'not checked yet' : reachable ? 'reachable' : 'unreachable',
    registered === null ? '' : registered ? ', registered' : ', not registered',
  ];
  const message = `${name} of ${project} at ${host}: ${states.join('')}`;
  if (error === null) return ok('trunk', message);
  return warn(
    'trunk',
    `${message} (${error})`,
    'Correct the trunk; the log has `trunk check failed` with the reason.',
  );
}
