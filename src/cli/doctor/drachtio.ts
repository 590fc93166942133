import type { ProbeResult } from '../../telephony/control/probe.ts';
import { reasonOf } from '../reason.ts';
import { type Finding, fail, ok, shownAddress } from './finding.ts';

const NAME = 'SIP server';

/** Whether the drachtio-server that DRACHTIO_URL names lets us in. */
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
      'Put the secret of its admin section into DRACHTIO_URL: drachtio://:secret@host:9022',
    );
  } catch (error) {
    return fail(
      NAME,
      `${shown} cannot be used (${reasonOf(error)})`,
      'Check DRACHTIO_URL, and that drachtio-server runs and takes applications from this machine.',
    );
  }
}
