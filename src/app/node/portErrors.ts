import type { SettingName } from '../settings/settings.ts';

/** Matches the end of errors of `net` and `dgram`; those of a thread have lost their code. */
const BIND_FAILURE = /\b(EADDRINUSE|EACCES|EADDRNOTAVAIL)\b.*?:(\d+)$/;

/** The settings of the sockets that are being bound. */
export interface BoundSettings {
  readonly host: SettingName;
  readonly ports: Readonly<Partial<Record<SettingName, number | undefined>>>;
}

/** Adds to a failure to bind a port the setting that an operator has to change. */
export async function namingPortSettings<Result>(
  { host, ports }: BoundSettings,
  binding: Promise<Result>,
): Promise<Result> {
  try {
    return await binding;
  } catch (error) {
    const [, code, port] = (error instanceof Error && BIND_FAILURE.exec(error.message)) || [];
    const found = Object.entries(ports).find(([, wanted]) => wanted === Number(port));
    if (code === undefined || !found) throw error;
    throw portError(code === 'EADDRNOTAVAIL' ? host : found[0], code, port, error);
  }
}

/** @param code - The code of the failure, such as `EADDRINUSE`. */
export function portError(setting: string, code: string, port: string | number = '', cause?: unknown): Error {
  return new Error(`${setting}: ${explanation(code, port)}`, { cause });
}

function explanation(code: string, port: string | number): string {
  if (code === 'EADDRINUSE')
    return `port ${port} is in use by another process; stop it, or choose another port`;
  if (code === 'EACCES') return `this user may not use port ${port}; choose a port from 1024`;
  if (code === 'EADDRNOTAVAIL')
    return 'this machine has no such address; choose one of its addresses, or 0.0.0.0';
  return `port ${port} cannot be bound (${code})`;
}
