import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { LIVE_EVENT_TYPES } from '../src/events/liveEvent.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const pagesIn = (folder: string, recursive = true) =>
  readdirSync(path.join(ROOT, folder), { recursive, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => path.join(folder, file));
const PAGES = [
  ...pagesIn('.', false),
  ...['docs', 'docker', 'sip', 'offline'].flatMap((folder) => pagesIn(folder)),
];
/** Files of a recipe's new thing, and names that stand for many. */
const EXAMPLES = /NAME|\bnotes?\.|^x\./;

const read = (page: string) => readFileSync(path.join(ROOT, page), 'utf8');
const withoutCode = (text: string) => text.replaceAll(/```[\s\S]*?```/g, '').replaceAll(/`[^`\n]*`/g, '');

/** As GitHub makes it of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

const anchorsOf = (page: string) =>
  [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));

test.each(PAGES)('Every link of %s leads to a file and a heading', (page) => {
  const links = [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  const broken = links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? page : path.join(path.dirname(page), file);
    if (!existsSync(path.join(ROOT, target))) return true;
    return anchor !== undefined && !anchorsOf(target).includes(anchor);
  });
  expect(broken).toEqual([]);
});

test.each(['docs/architecture.md', 'CONTRIBUTING.md', 'SECURITY.md', 'README.md'])(
  'Every file that %s names exists',
  (page) => {
    const names = [...read(page).matchAll(/`([\w./-]+\/[\w./-]+\.(?:ts|mjs|md|json))`/g)].map(
      ([, name = '']) => name,
    );
    const exists = (name: string) =>
      ['', 'src', 'src/engine', 'src/telephony', 'docs'].some((folder) =>
        existsSync(path.join(ROOT, folder, name)),
      );
    expect(names.filter((name) => !EXAMPLES.test(name) && !name.startsWith('/') && !exists(name))).toEqual(
      [],
    );
  },
);

test('Every test that SECURITY.md names by its title exists', () => {
  const named = [...read('SECURITY.md').matchAll(/`(test\/[\w./-]+)` \(“([^)]+)”\)/g)];
  const titles = named.flatMap(([, file = '', list = '']) =>
    list.split('”, “').map((title) => [file, title]),
  );
  expect(titles.length).toBeGreaterThan(15);
  expect(titles.filter(([file = '', title = '']) => !read(file).includes(`'${title}'`))).toEqual([]);
});

test('The index of the documentation links every page', () => {
  const index = read('docs/README.md');
  const pages = pagesIn('docs').map((page) => path.relative('docs', page));
  expect(pages.filter((page) => page !== 'README.md' && !index.includes(`(${page})`))).toEqual([]);
});

test('The guide to live events has a row for each type', () => {
  const cells = [...read('docs/guides/events.md').matchAll(/^\| (`.+?`) \|/gm)].map(([, cell = '']) => cell);
  const types = cells.flatMap((cell) => {
    const names = [...cell.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name);
    // The first name of a row has the subject of those that follow.
    const [subject] = names[0]?.split('.') ?? [];
    return names.map((name) => (name.includes('.') ? name : `${subject}.${name}`));
  });
  expect(types.sort()).toEqual([...LIVE_EVENT_TYPES].sort());
});

test('The glossary has each term once', () => {
  const terms = [...read('docs/glossary.md').matchAll(/^\| ([^|]+?) \|/gm)]
    .map(([, cell = '']) => cell)
    .filter((cell) => !/^(?:Term|-+)$/.test(cell))
    .flatMap((cell) =>
      cell
        .replaceAll(/\(([^)]*)\)/g, ', $1')
        .split(',')
        .map((term) => term.trim()),
    );
  expect(terms.length).toBeGreaterThan(100);
  expect(terms.filter((term, index) => terms.indexOf(term) !== index)).toEqual([]);
});

describe('The life of a call and of a chat turn', () => {
  test.each([
    ['From the route to the INVITE', 31],
    ['From the answer to the agent’s first packet', 68],
    ['The life of a chat turn', 30],
  ])('%s takes at most %i files, numbered in order', (title, most) => {
    const page = read('docs/architecture.md').replaceAll("agent's", 'agent’s');
    const table =
      page.slice(page.lastIndexOf(title)).match(/\| # \|[^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)/)?.[1] ?? '';
    const rows = [...table.matchAll(/^\| (\d+)(?:–(\d+))? \| `?([^`|]+)/gm)];
    let next = 1;
    for (const [, first, last = first] of rows) {
      expect(Number(first)).toBe(next);
      next = Number(last) + 1;
    }
    expect(next - 1).toBeGreaterThan(10);
    expect(next - 1).toBeLessThanOrEqual(most);
    const files = rows.map(([, , , file]) => file);
    expect(new Set(files).size).toBe(files.length);
  });
});
