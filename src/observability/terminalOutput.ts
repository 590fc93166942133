import type { DestinationStream } from 'pino';

/** Level numbers of pino. */
const LEVELS: Readonly<Record<number, { readonly name: string; readonly color: number }>> = {
  10: { name: 'TRACE', color: 90 },
  20: { name: 'DEBUG', color: 90 },
  30: { name: 'INFO ', color: 32 },
  40: { name: 'WARN ', color: 33 },
  50: { name: 'ERROR', color: 31 },
  60: { name: 'FATAL', color: 31 },
};
const DIM = 2;
/** `HH:MM:SS.mmm` of an ISO time. */
const TIME = { from: 11, to: 23 } as const;

/** Shows the lines of a logger to a person: time, level and message, then the fields; an error's stack below. */
export function terminalOutput(output: { write(text: string): unknown }): DestinationStream {
  return { write: (line) => void output.write(formatLine(line)) };
}

/** @param line - One JSON object, as pino writes it. A line of another kind stays as it is. */
function formatLine(line: string): string {
  let parsed: Record<string, unknown>;
  try {
    parsed = JSON.parse(line);
  } catch {
    return line;
  }
  const { level, time, msg, err, ...fields } = parsed;
  const { name, color } = LEVELS[Number(level)] ?? { name: String(level), color: DIM };
  const { stack, ...error } = isObject(err) ? err : {};
  const shown = Object.entries({ ...fields, ...(isObject(err) ? { err: error } : { err }) })
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const head = `${paint(DIM, String(time).slice(TIME.from, TIME.to))} ${paint(color, name)} ${String(msg ?? '')}`;
  const below = typeof stack === 'string' ? `\n${stack}` : '';
  return `${[head, ...(shown.length > 0 ? [paint(DIM, shown.join(' '))] : [])].join('  ')}${below}\n`;
}

function paint(color: number, text: string): string {
  return `\x1b[${color}m${text}\x1b[0m`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
