import { join } from 'node:path';
import { createSealer } from '../../base/sealer.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MakeId } from '../../base/values/ids.ts';
import { Customers } from '../../calls/customers/customers.ts';
import type { CallRecordings } from '../../calls/recording/callRecordings.ts';
import type { TurnCheckpointStore } from '../../engine/session/interruptedTurn.ts';
import { createTurnSpool } from '../../infra/files/turnSpool.ts';
import type { createStorage } from '../../infra/postgres/storage.ts';
import type { RedisConnection } from '../../infra/redis/connection/connection.ts';
import { redisEventLog } from '../../infra/redis/events/eventLog.ts';
import type { Config } from '../settings/config.ts';
import { TURN_SPOOL_FOLDER } from './conversation.ts';

export interface CustomerParts {
  readonly config: Config;
  readonly storage: ReturnType<typeof createStorage>;
  readonly secretsKey: Uint8Array;
  readonly turnCheckpoints: TurnCheckpointStore;
  readonly redis: RedisConnection;
  readonly recordings: CallRecordings;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly onError: (error: unknown, what: string) => void;
}

export function buildCustomers({
  config,
  storage,
  secretsKey,
  turnCheckpoints,
  redis,
  ...parts
}: CustomerParts) {
  return new Customers({
    ...parts,
    store: storage.customers,
    checkpoints: turnCheckpoints,
    forgetEvents: redisEventLog(redis).forget,
    spool: createTurnSpool(join(config.DATA_DIR, TURN_SPOOL_FOLDER)),
    digest: createSealer(secretsKey).digest,
  });
}
