import { settings } from './settings.ts';

/** A setting as its documents show it. */
export interface DescribedSetting {
  readonly name: string;
  /** As one would write it into the environment; `undefined` where there is none. */
  readonly defaultText: string | undefined;
  readonly description: string;
}

/** All settings, in the order in which they are documented. */
export function describeSettings(): DescribedSetting[] {
  return Object.entries(settings.shape).map(([name, schema]) => ({
    name,
    defaultText: 'defaultValue' in schema.def ? textOf(schema.def.defaultValue) : undefined,
    description: schema.description ?? '',
  }));
}

/** `.env.example`: every setting commented out at its default, so that a copy of it changes nothing. */
export function envExample(): string {
  const head = [
    '# Every setting of Callway at its default. Copy this file to .env and take the # off what you change.',
    '# What the environment sets counts before this file; an empty value is as good as none.',
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

function textOf(value: unknown): string | undefined {
  if (value instanceof Date) return value.toISOString().slice(0, 10);
  const text = Array.isArray(value) ? value.join(',') : String(value);
  return text === '' ? undefined : text;
}
