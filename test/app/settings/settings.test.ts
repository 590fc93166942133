import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';

import { loadConfig } from '../../../src/app/settings/config.ts';
import { describeSettings, envExample, settingsTable } from '../../../src/app/settings/describe.ts';
import { secretSettings, settings } from '../../../src/app/settings/settings.ts';

const fileOf = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
const names = Object.keys(settings.shape);
const defaults = Object.fromEntries(describeSettings().map(({ name, defaultText }) => [name, defaultText]));

describe('.env.example', () => {
  const file = fileOf('.env.example');

  it('has every setting of the schema in its order, with its default', () => {
    const entries = [...file.matchAll(/^#([A-Z0-9_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]);
    expect(entries).toEqual(names.map((name) => [name, defaults[name] ?? '']));
  });

  it('is what "npm run settings" writes', () => {
    expect(file).toBe(envExample());
  });

  it('changes nothing when it is copied, nor when all of its comments are taken off', () => {
    expect(parseEnv(file)).toEqual({});
    const uncommented = parseEnv(file.replace(/^#(?=[A-Z0-9_]+=)/gm, ''));
    expect(Object.keys(uncommented).sort()).toEqual([...names].sort());
    expect(loadConfig(uncommented as Record<string, string>)).toEqual(loadConfig({}));
  });
});

describe('docs/settings.md', () => {
  const [, table = ''] =
    /<!-- settings -->\n([\s\S]*?)<!-- \/settings -->/.exec(fileOf('docs/settings.md')) ?? [];

  it('has every setting of the schema in its order, with its default', () => {
    const rows = [...table.matchAll(/^\| `([A-Z0-9_]+)` \| (?:`([^`]*)`)? \| (.+) \|$/gm)];
    expect(rows.map(([, name, value]) => [name, value])).toEqual(names.map((name) => [name, defaults[name]]));
  });

  it('is what "npm run settings" writes', () => {
    expect(table).toBe(settingsTable());
  });
});

it('describes every setting in a sentence', () => {
  for (const { name, description } of describeSettings()) {
    expect(description, name).toMatch(/^\S.*[^\s]$/);
  }
});

it('counts every setting with a secret among those that are never shown', () => {
  const suspicious = names.filter((name) => /KEY$|TOKEN|SECRET|^(DATABASE|REDIS|DRACHTIO)_URL$/.test(name));
  expect(suspicious.filter((name) => !(secretSettings as readonly string[]).includes(name))).toEqual([]);
});
