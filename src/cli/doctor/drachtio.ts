import type { ProbeResult } from '../../telephony/control/probe.ts';
import { failureReason } from '../connectionFailure.ts';
import { type Finding, fail, ok, shownAddress } from './finding.ts';

const NAME = 'SIP server';

/** Checks that the drachtio-server of DRACHTIO_URL accepts the secret. */
export async function checkDrachtio(
  url: string,
  probe: (url: string) => Promise<ProbeResult>,
): Promise<Finding> {
  const shown = shownAddress(url);
  try {
    const answer = await probe(url);
    if (answer.accepted) {
      return ok(NAME, `${shown}, drachtio-server ${answer.version} on ${answer.endpoints.join(', ')}`);
    }
    return fail(
      NAME,
      `${shown} refuses the secret (${answer.reason})`,
      'Use the secret of its admin section in DRACHTIO_URL: drachtio://:secret@host:9022',
    );
  } catch (error) {
    return fail(
      NAME,
      `${shown} cannot be used (${failureReason(error)})`,
      'Check DRACHTIO_URL, and that drachtio-server runs and accepts connections from this machine.',
    );
  }
}
