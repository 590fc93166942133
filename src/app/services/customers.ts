import { join } from 'node:path';
import { createSealer } from '../../base/sealer.ts';
import { Customers } from '../../calls/customers/customers.ts';
import type { CallRecordings } from '../../calls/recording/callRecordings.ts';
import { createTurnSpool } from '../../infra/files/turnSpool.ts';
import { redisEventLog } from '../../infra/redis/events/eventLog.ts';
import type { NodeContext } from '../node/node.ts';
import { TURN_SPOOL_FOLDER } from './conversation.ts';

export function buildCustomers(node: NodeContext, recordings: CallRecordings): Customers {
  const { config, storage, secretsKey, turnCheckpoints, redis, clock, makeId, onError } = node;
  return new Customers({
    store: storage.customers,
    checkpoints: turnCheckpoints,
    spool: createTurnSpool(join(config.DATA_DIR, TURN_SPOOL_FOLDER)),
    forgetEvents: redisEventLog(redis).forget,
    recordings,
    digest: createSealer(secretsKey).digest,
    clock,
    makeId,
    onError,
  });
}
