import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** One statement of a test file, at the top level or directly inside a `describe`. */
interface Statement {
  /** The title of a test; undefined for other statements. */
  readonly title: string | undefined;
  /** The name that the statement declares. */
  readonly declares: string | undefined;
  readonly text: string;
}

/** Finds tests by file and title, and the code that they run. */
export class NamedTests {
  readonly #files = new Map<string, readonly Statement[]>();

  /**
   * The source of the tests of a title, together with the declarations of their file that they use.
   *
   * @param file - From the root of the repository.
   * @returns Undefined when the file has no test with this title.
   */
  sourceOf(file: string, title: string): string | undefined {
    const statements = this.#statementsOf(file);
    const used = new Set(statements.filter((statement) => statement.title === title));
    if (used.size === 0) return undefined;
    // Iteration over a set includes entries that are added meanwhile.
    for (const { text } of used) {
      for (const statement of statements) {
        const { declares } = statement;
        if (declares !== undefined && mentions(text, declares)) used.add(statement);
      }
    }
    return [...used].map(({ text }) => text).join('\n');
  }

  /** All TypeScript files of a folder but one. */
  sourcesOf(folder: string, without: string): string[] {
    return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((file) => join(folder, file))
      .filter((file) => file.endsWith('.ts') && file !== without)
      .map((file) => readFileSync(join(ROOT, file), 'utf8'));
  }

  #statementsOf(file: string): readonly Statement[] {
    const known = this.#files.get(file);
    if (known) return known;
    const statements = splitStatements(readFileSync(join(ROOT, file), 'utf8'), '').flatMap((text) =>
      text.startsWith('describe') ? splitStatements(text, '  ') : [text],
    );
    const read = statements.map((text) => ({ title: titleOf(text), declares: declaredBy(text), text }));
    this.#files.set(file, read);
    return read;
  }
}

/** Whether a text has this name as a whole word. @param name - Letters, digits, `_`, `-` and `.` */
export function mentions(text: string, name: string): boolean {
  return new RegExp(`(?<![\\w$])${name.replaceAll('.', '\\.')}(?![\\w$])`).test(text);
}

/** Formatted code starts each statement of a block at the block's indentation. */
function splitStatements(code: string, indentation: string): string[] {
  return code.split(new RegExp(`\\n(?=${indentation}[A-Za-z/])`));
}

function titleOf(statement: string): string | undefined {
  if (!/^\s*(test|it)\b/.test(statement)) return undefined;
  const [, quote, title] =
    /(?:^\s*(?:test|it)(?:\.\w+)*|\)|`)\(\s*(['"`])((?:(?!\1)[^\\]|\\.)*)\1/s.exec(statement) ?? [];
  return quote === undefined ? undefined : title?.replaceAll(/\\(.)/g, '$1');
}

function declaredBy(statement: string): string | undefined {
  const [, name] =
    /^\s*(?:export )?(?:async )?(?:const|let|function\*?|class|type|interface) (?:\{ )?(\w+)/m.exec(
      statement,
    ) ?? [];
  return name;
}
