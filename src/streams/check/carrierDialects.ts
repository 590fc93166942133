import { z } from 'zod';

import type { ClientDialect } from '../../dialects/dialect.ts';
import {
  type AudioClientDialectName,
  type DialectName,
  dialectNames,
  dialects,
} from '../../dialects/index.ts';
import { jambonz } from '../../dialects/jambonz.ts';

/** Only FreeSWITCH starts its streams; a check plays its module, whose messages jambonz has. */
const freeswitch: ClientDialect = { ...dialects.freeswitch, openClient: jambonz.openClient };

export type CarrierDialectName = AudioClientDialectName | 'freeswitch';

const isCarrierDialect = (name: DialectName): name is CarrierDialectName =>
  name === 'freeswitch' || 'openClient' in dialects[name];

/** The dialects whose carrier or PBX a check can play. */
export const carrierDialectNames = dialectNames.filter(isCarrierDialect);
export const carrierDialectName = z.enum(carrierDialectNames);

export function findCarrierDialect(name: CarrierDialectName): ClientDialect {
  return name === 'freeswitch' ? freeswitch : dialects[name];
}
