/** Prints progress line by line, in colour on a terminal. */
export interface Screen {
  title(text: string): void;
  /** Something is ready. */
  step(name: string, text: string): void;
  /** A line of the call with its time since the request; undefined for a line without a time. */
  line(atMs: number | undefined, who: Who, text: string): void;
  table(rows: readonly (readonly string[])[]): void;
  note(text: string): void;
  failure(text: string): void;
}

type Who = 'agent' | 'callee' | 'heard' | 'call';

export interface ScreenDeps {
  readonly write: (text: string) => void;
  readonly hasColour: boolean;
}

const COLOURS = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
const COLOUR_OF: Readonly<Record<Who, keyof typeof COLOURS>> = {
  agent: 'cyan',
  callee: 'yellow',
  heard: 'dim',
  call: 'dim',
};
const NAME_WIDTH = 18;

export function createScreen({ write, hasColour }: ScreenDeps): Screen {
  const paint = (colour: keyof typeof COLOURS, text: string) =>
    hasColour ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m` : text;
  return {
    title: (text) => write(`\n${paint('bold', text)}\n`),
    step: (name, text) => write(`  ${paint('green', '✓')} ${name.padEnd(NAME_WIDTH)} ${text}\n`),
    line(atMs, who, text) {
      const time = (atMs === undefined ? '' : seconds(atMs)).padStart(8);
      write(`${paint('dim', time)}  ${paint(COLOUR_OF[who], who.padEnd(7))} ${text}\n`);
    },
    table(rows) {
      for (const [index, row] of alignColumns(rows).entries()) {
        write(`  ${index === 0 ? paint('dim', row) : row}\n`);
      }
    },
    note: (text) => write(`  ${text}\n`),
    failure: (text) => write(`\n${paint('red', '✗')} ${text}\n`),
  };
}

/** Aligns the first column to the left and numbers to the right. */
function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows.reduce<number[]>(
    (all, row) => row.map((cell, index) => Math.max(all[index] ?? 0, cell.length)),
    [],
  );
  return rows.map((row) =>
    row
      .map((cell, index) =>
        index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0),
      )
      .join('  '),
  );
}

export function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}
