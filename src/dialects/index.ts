import { z } from 'zod';

import { asteriskWebSocket } from './asteriskWebSocket.ts';
import { audiosocket } from './audiosocket.ts';
import { callway } from './callway.ts';
import { conversationRelay } from './conversationRelay.ts';
import type { ClientDialect, StreamDialect } from './dialect.ts';
import { exotel } from './exotel.ts';
import { freeswitch } from './freeswitch.ts';
import { jambonz } from './jambonz.ts';
import { openaiRealtime } from './openaiRealtime.ts';
import { plivo } from './plivo.ts';
import { telnyx } from './telnyx.ts';
import type { TextDialect } from './textDialect.ts';
import { twilio } from './twilio.ts';
import { vonage } from './vonage.ts';

/** Every dialect, by the name that the API knows it by. A new one is registered here. */
export const dialects = {
  callway,
  twilio,
  conversationrelay: conversationRelay,
  telnyx,
  plivo,
  vonage,
  exotel,
  jambonz,
  'asterisk-websocket': asteriskWebSocket,
  audiosocket,
  freeswitch,
  'openai-realtime': openaiRealtime,
} as const satisfies Record<string, StreamDialect | TextDialect>;

export type DialectName = keyof typeof dialects;
/** The names of the dialects that calls can be connected to bots with. */
export type ClientDialectName = {
  [Name in DialectName]: (typeof dialects)[Name] extends ClientDialect | TextDialect ? Name : never;
}[DialectName];

/** The same, of those with audio. */
export type AudioClientDialectName = {
  [Name in DialectName]: (typeof dialects)[Name] extends ClientDialect ? Name : never;
}[DialectName];

export const dialectNames = Object.keys(dialects) as DialectName[];
export const audioDialectNames = dialectNames.filter((name) => !isTextDialect(dialects[name]));
export const clientDialectNames = dialectNames.filter((name): name is ClientDialectName =>
  isClientDialect(dialects[name]),
);

export const dialectName = z.enum(dialectNames);
export const clientDialectName = z.enum(clientDialectNames);

/** @throws {z.ZodError} When no dialect has this name. */
export function findDialect(name: string): StreamDialect | TextDialect {
  return dialects[dialectName.parse(name)];
}

/** @throws {Error} When no audio dialect has this name. */
export function findAudioDialect(name: string): StreamDialect {
  const dialect = findDialect(name);
  if (isTextDialect(dialect)) throw new TypeError(`${name} is a dialect of text turns`);
  return dialect;
}

/** @throws {Error} When no dialect of text turns has this name. */
export function findTextDialect(name: string): TextDialect {
  const dialect = findDialect(name);
  if (!isTextDialect(dialect)) throw new TypeError(`${name} is a dialect of audio`);
  return dialect;
}

/** @throws {Error} When no audio dialect of this name can be spoken with a bot. */
export function findClientDialect(name: string): ClientDialect {
  const dialect = dialects[clientDialectName.parse(name)];
  if (isTextDialect(dialect)) throw new TypeError(`${name} is a dialect of text turns`);
  return dialect;
}

/** Whether the other side recognizes and speaks. */
export function isTextDialect(dialect: StreamDialect | TextDialect): dialect is TextDialect {
  return 'openTextServer' in dialect;
}

const subprotocols = new Set(dialectNames.flatMap((name) => findDialect(name).subprotocols ?? []));

/** @returns The first offered subprotocol that a dialect has; false when there is none. */
export function chooseSubprotocol(offered: Iterable<string>): string | false {
  for (const name of offered) if (subprotocols.has(name)) return name;
  return false;
}

function isClientDialect(dialect: StreamDialect | TextDialect): dialect is ClientDialect | TextDialect {
  return isTextDialect(dialect) || dialect.openClient !== undefined;
}
