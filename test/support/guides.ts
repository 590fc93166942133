import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A file that the reader saves, or a command with the output that the guide shows. */
export type GuideStep =
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  | { readonly kind: 'command'; readonly command: string; readonly output: string };

export interface GuideReader {
  /** Working folder of the commands. */
  readonly folder: string;
  /** Variables of the reader's shell. */
  readonly env: Readonly<Record<string, string>>;
  /** What stands in the guide, and what stands for it on this machine. */
  readonly replace: readonly (readonly [string, string])[];
  /** Ids as the guide shows them, with the real ones; those of the outputs are added. */
  readonly ids: Map<string, string>;
  /** Shell variables that the guide introduces for one of its ids. */
  readonly names?: Readonly<Record<string, string>>;
}

const GUIDES = new URL('../../docs/guides/', import.meta.url);
/** What a command that only reads may have to wait for: a call, a document. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 250;
/** An id, also with its end left out. */
const ID = '[0-9a-f]{8}-(?:[0-9a-f]{4}-){0,3}(?:…|[0-9a-f]{12})';
const TIME = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`;
/** A measured number with its name. */
const MEASURED = String.raw`"(?:\w+Ms|p50|p95|mos|score|bytes|packets\w+|underruns|shed)":[\d.]+`;
/** Also the commas around what is left out. */
const LEFT_OUT = '[,\\s]*…[,\\s]*';
/** Runs commands, each ended by a NUL, and prints the output and the exit status of each, likewise. */
const SHELL = `while IFS= read -r -d '' command; do bash -c "$command" </dev/null; printf '\\0%s\\0' "$?"; done`;
const VARYING = new RegExp(`(${ID}|${TIME}|${MEASURED}|${LEFT_OUT}|\\s+)`);

export function readGuide(name: string): string {
  return readFileSync(new URL(name, GUIDES), 'utf8');
}

/** A JSON example by its name: ```` ```json NAME ````. */
export function guideExample(guide: string, name: string) {
  const text = new RegExp(`^\`\`\`json ${name}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(guide)?.[1];
  if (text === undefined) throw new Error(`the guide has no example ${name}`);
  return JSON.parse(text);
}

/** Files (```` ```json NAME.json ````) and commands (```` ```console ````), in the order of the guide. */
export function stepsOf(guide: string): GuideStep[] {
  const blocks = guide.matchAll(/^```(console|\w+ [\w-]+\.\w+)\n([\s\S]*?)^```$/gm);
  return [...blocks].flatMap(([, info = '', text = '']): GuideStep[] =>
    info === 'console' ? commandsOf(text) : [{ kind: 'file', name: info.split(' ')[1] ?? '', text }],
  );
}

/** Follows a guide from its beginning. @throws {Error} Where an output is not the one that the guide shows. */
export async function followGuide(guide: string, reader: GuideReader): Promise<void> {
  const local = (text: string) =>
    [...reader.replace, ...reader.ids].reduce((all, [shown, real]) => all.replaceAll(shown, real), text);
  const shell = startShell(reader);
  try {
    for (const step of stepsOf(guide)) {
      if (step.kind === 'file') writeFileSync(join(reader.folder, step.name), local(step.text));
      else await follow(shell, local(step.command), step.output, reader);
    }
  } finally {
    await shell.close();
  }
}

/** @returns Runs commands in one shell: this process is large, and to fork it for each command holds it up. */
function startShell({ folder, env }: GuideReader) {
  const shell = spawn('bash', ['-c', SHELL], { cwd: folder, env: { PATH: process.env.PATH, ...env } });
  const closed = once(shell, 'close');
  const outputs = textsOf(shell.stdout.setEncoding('utf8'));
  let stderr = '';
  shell.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return {
    /** @returns What the command prints. @throws {Error} When it fails. */
    async run(command: string, variables: Readonly<Record<string, string>>): Promise<string> {
      stderr = '';
      const exports = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'\n`);
      shell.stdin.write(`${exports.join('')}${command}\0`);
      const { value: stdout = '' } = await outputs.next();
      const { value: status } = await outputs.next();
      if (status !== '0') throw new Error(`${command}\n\nfails with ${status}:\n\n${stdout}${stderr}`);
      return stdout;
    },
    async close() {
      shell.stdin.end();
      await closed;
    },
  };
}

/** Splits a stream at NUL characters. */
async function* textsOf(stream: AsyncIterable<string>): AsyncGenerator<string, undefined> {
  let rest = '';
  for await (const chunk of stream) {
    const texts = (rest + chunk).split('\0');
    rest = texts.pop() ?? '';
    yield* texts;
  }
  return undefined;
}

function commandsOf(text: string): GuideStep[] {
  const commands: { kind: 'command'; command: string; output: string }[] = [];
  for (const line of text.split('\n')) {
    const last = commands.at(-1);
    if (line.startsWith('$ ')) commands.push({ kind: 'command', command: line.slice(2), output: '' });
    else if (last && last.output === '' && continues(last.command)) last.command += `\n${line}`;
    else if (last) last.output += `${line}\n`;
  }
  return commands;
}

/** By a backslash, or within quotes. */
const continues = (command: string) => command.endsWith('\\') || (command.match(/'/g) ?? []).length % 2 === 1;

async function follow(
  shell: ReturnType<typeof startShell>,
  command: string,
  output: string,
  reader: GuideReader,
): Promise<void> {
  const names = Object.entries(reader.names ?? {}).map(([name, id]) => [name, reader.ids.get(id) ?? '']);
  const onlyReads = !/\s-(?:d|F|X)\b/.test(command);
  const { pattern, shown } = patternOf(output, reader);
  for (const startedMs = performance.now(); ; await delay(PAUSE_MS)) {
    const stdout = await shell.run(command, Object.fromEntries(names));
    const match = pattern.exec(stdout);
    if (match) {
      for (const [index, id] of shown.entries()) reader.ids.set(id, match[index + 1] ?? '');
      return;
    }
    if (!onlyReads || performance.now() - startedMs > PATIENCE_MS)
      throw new Error(`${command}\n\nprints\n\n${stdout}\n\nand the guide shows\n\n${output}`);
  }
}

/** @returns A pattern of the output, whose groups are the ids that it `shown` for the first time. */
function patternOf(output: string, { ids, replace }: GuideReader): { pattern: RegExp; shown: string[] } {
  if (output.trim() === '') return { pattern: /^(?!\{"error")/, shown: [] };
  const text = replace.reduce((all, [shown, real]) => all.replaceAll(shown, real), output.trim());
  const shown: string[] = [];
  const sources = text.split(VARYING).map((part) => {
    if (new RegExp(`^${ID}$`).test(part)) {
      const known = ids.get(part);
      if (known !== undefined) return escaped(known);
      if (shown.includes(part)) return `\\${shown.indexOf(part) + 1}`;
      shown.push(part);
      return '([0-9a-f-]{36})';
    }
    if (part.includes('…')) return '[\\s\\S]*?';
    if (/^\s+$/.test(part)) return '\\s*';
    if (new RegExp(`^${TIME}$`).test(part)) return TIME;
    if (new RegExp(`^${MEASURED}$`).test(part)) return part.replace(/[\d.]+$/, '(?:[\\d.]+|null)');
    return escaped(part);
  });
  return { pattern: new RegExp(`^\\s*${sources.join('')}\\s*$`), shown };
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
