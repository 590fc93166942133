import type { Config } from './config.ts';
import { secretSettings, settings } from './settings.ts';

/** Stands for the value of a secret. */
export const REDACTED = '[redacted]';

/** A setting in the documentation. */
export interface DescribedSetting {
  readonly name: string;
  /** The default as written in the environment; undefined when there is none. */
  readonly defaultText: string | undefined;
  readonly description: string;
}

/** Describes all settings, in documentation order. */
export function describeSettings(): DescribedSetting[] {
  return Object.entries(settings.shape).map(([name, schema]) => ({
    name,
    defaultText: 'defaultValue' in schema.def ? textOf(schema.def.defaultValue) : undefined,
    description: schema.description ?? '',
  }));
}

/** The text of `.env.example`: all settings commented out with their defaults, so that a copy changes nothing. */
export function envExample(): string {
  const head = [
    '# All settings of Callway with their defaults. Copy this file to .env and uncomment what you change.',
    '# Environment variables take precedence over this file; an empty value counts as not set.',
  ].join('\n');
  const entries = describeSettings().map(
    ({ name, defaultText = '', description }) => `# ${description}\n#${name}=${defaultText}`,
  );
  return `${[head, ...entries].join('\n\n')}\n`;
}

/** The table of docs/settings.md. */
export function settingsTable(): string {
  const rows = describeSettings().map(({ name, defaultText, description }) => {
    const shown = defaultText === undefined ? '' : `\`${defaultText}\``;
    return `| \`${name}\` | ${shown} | ${description.replaceAll('|', '\\|')} |`;
  });
  return `${['| Setting | Default | |', '|---|---|---|', ...rows].join('\n')}\n`;
}

/** The settings of a process as in its environment; those without a value are left out. */
export function shownSettings(config: Config): Record<string, string> {
  const secrets: ReadonlySet<string> = new Set(secretSettings);
  return Object.fromEntries(
    Object.entries(config).flatMap(([name, value]) => {
      if (value === undefined) return [];
      const text = value instanceof Date ? value.toISOString() : (textOf(value) ?? '');
      return [[name, secrets.has(name) ? REDACTED : text]];
    }),
  );
}

function textOf(value: unknown): string | undefined {
  if (value instanceof Date) return value.toISOString().slice(0, 10);
  const text = Array.isArray(value) ? value.join(',') : String(value);
  return text === '' ? undefined : text;
}
