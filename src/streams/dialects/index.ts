import { z } from 'zod';

import { asteriskWebSocket } from './asteriskWebSocket.ts';
import { audiosocket } from './audiosocket.ts';
import { callway } from './callway.ts';
import type { ClientDialect, StreamDialect } from './dialect.ts';
import { exotel } from './exotel.ts';
import { freeswitch } from './freeswitch.ts';
import { jambonz } from './jambonz.ts';
import { plivo } from './plivo.ts';
import { telnyx } from './telnyx.ts';
import { twilio } from './twilio.ts';
import { vonage } from './vonage.ts';

/** Every dialect, by the name that the API knows it by. A new one is registered here. */
export const dialects = {
  callway,
  twilio,
  telnyx,
  plivo,
  vonage,
  exotel,
  jambonz,
  'asterisk-websocket': asteriskWebSocket,
  audiosocket,
  freeswitch,
} as const satisfies Record<string, StreamDialect>;

export type DialectName = keyof typeof dialects;
/** Of the dialects that calls can be connected to bots with. */
export type ClientDialectName = {
  [Name in DialectName]: (typeof dialects)[Name] extends ClientDialect ? Name : never;
}[DialectName];

export const dialectNames = Object.keys(dialects) as DialectName[];
export const clientDialectNames = dialectNames.filter((name): name is ClientDialectName =>
  isClientDialect(dialects[name]),
);

export const dialectName = z.enum(dialectNames);
export const clientDialectName = z.enum(clientDialectNames);

/** @throws {z.ZodError} When no dialect has this name. */
export function findDialect(name: string): StreamDialect {
  return dialects[dialectName.parse(name)];
}

/** @throws {z.ZodError} When no dialect of this name can be spoken with a bot. */
export function findClientDialect(name: string): ClientDialect {
  return dialects[clientDialectName.parse(name)];
}

const subprotocols = new Set(dialectNames.flatMap((name) => findDialect(name).subprotocols ?? []));

/** @returns The first offered subprotocol that a dialect has; false when there is none. */
export function chooseSubprotocol(offered: Iterable<string>): string | false {
  for (const name of offered) if (subprotocols.has(name)) return name;
  return false;
}

function isClientDialect(dialect: StreamDialect): dialect is ClientDialect {
  return dialect.openClient !== undefined;
}
