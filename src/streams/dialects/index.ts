import { z } from 'zod';

import { callway } from './callway.ts';
import type { StreamDialect } from './dialect.ts';
import { twilio } from './twilio.ts';

/** Every dialect, by the name that the API knows it by. A new one is registered here. */
export const dialects = { callway, twilio } as const satisfies Record<string, StreamDialect>;

export type DialectName = keyof typeof dialects;

export const dialectNames = Object.keys(dialects) as DialectName[];

export const dialectName = z.enum(dialectNames);

/** @throws {z.ZodError} When no dialect has this name. */
export function findDialect(name: string): StreamDialect {
  return dialects[dialectName.parse(name)];
}

const subprotocols = new Set<string | undefined>(dialectNames.map((name) => findDialect(name).subprotocol));

/** @returns The first offered subprotocol that a dialect has; false when there is none. */
export function chooseSubprotocol(offered: Iterable<string>): string | false {
  for (const name of offered) if (subprotocols.has(name)) return name;
  return false;
}
