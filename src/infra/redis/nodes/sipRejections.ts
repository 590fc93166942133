import {
  type ReportedRejection,
  type SipRejectionStore,
  sipRejection,
} from '../../../calls/trunks/sipRejection.ts';
import { orUnavailable, type RedisConnection } from '../connection/connection.ts';

const MAX_OF_INSTALLATION = 1000;
const MAX_OF_PROJECT = 100;
/** The lifetime of rejections, which contain phone numbers. */
const LIFETIME_MS = 30 * 86_400_000;

/** A bounded list for the installation, and one for each project. */
export function redisSipRejections({ client }: RedisConnection): SipRejectionStore {
  const push = async (projectId: string | undefined, rejections: readonly ReportedRejection[]) => {
    if (rejections.length === 0) return;
    const key = keyOf(projectId);
    const last = (projectId === undefined ? MAX_OF_INSTALLATION : MAX_OF_PROJECT) - 1;
    const texts = rejections.map((rejection) => JSON.stringify(sipRejection.parse(rejection)));
    const adding = client.multi().lpush(key, ...texts);
    await orUnavailable(adding.ltrim(key, 0, last).pexpire(key, LIFETIME_MS).exec());
  };
  return {
    async add(rejections) {
      const projects = new Set(rejections.flatMap(({ projectId }) => projectId ?? []));
      await Promise.all([
        push(undefined, rejections),
        ...[...projects].map((id) =>
          push(
            id,
            rejections.filter(({ projectId }) => projectId === id),
          ),
        ),
      ]);
    },
    async list(projectId, limit) {
      const texts = await orUnavailable(client.lrange(keyOf(projectId), 0, -1));
      // Another version of the product may have written a form that this one does not know.
      const known = texts.flatMap((text) => sipRejection.safeParse(JSON.parse(text)).data ?? []);
      // Nodes add theirs up to a second late.
      return known.toSorted((one, other) => other.at.localeCompare(one.at)).slice(0, limit);
    },
  };
}

const keyOf = (projectId: string | undefined) => `callway:sip-rejections:{${projectId ?? ''}}`;
