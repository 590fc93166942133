import { expect, test } from 'vitest';

import { readTexts } from './support.ts';

const HEADERS =
  'From: Ann <ann@example.com>\r\nTo: bo@example.com\r\nDate: Mon, 2 Mar 2026 10:00:00 +0100\r\n';
const SENDER = 'From: Ann <ann@example.com>\nTo: bo@example.com\nDate: 2026-03-02T09:00:00.000Z';
const part = (headers: string, body: string) => `--q\r\n${headers}\r\n\r\n${body}\r\n`;
const mixed = (kind: string, ...parts: string[]) =>
  `${HEADERS}MIME-Version: 1.0\r\nContent-Type: multipart/${kind}; boundary="q"\r\n\r\n${parts.join('')}--q--\r\n`;

test.each<[string, string, string[]]>([
  [
    'in base64, with an encoded subject',
    `Subject: =?UTF-8?B?w5ZmZm51bmc=?=\r\n${mixed('alternative', part('Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64', Buffer.from('Öffnet um neun.').toString('base64')))}`,
    ['Öffnung', SENDER, 'Öffnet um neun.'],
  ],
  [
    'in quoted-printable Latin-1',
    mixed(
      'mixed',
      part(
        'Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable',
        'Wir =F6ffnen um=\r\n neun.',
      ),
    ),
    [SENDER, 'Wir öffnen um neun.'],
  ],
  [
    'in Shift JIS',
    Buffer.concat([
      Buffer.from(`${HEADERS}Content-Type: text/plain; charset=shift_jis\r\n\r\n`),
      Buffer.from('82b182f1', 'hex'),
    ]).toString('latin1'),
    [SENDER, 'こん'],
  ],
  [
    'as text and HTML',
    mixed(
      'alternative',
      part('Content-Type: text/plain', 'As text'),
      part('Content-Type: text/html', '<p>As HTML</p>'),
    ),
    [SENDER, 'As text'],
  ],
  [
    'as HTML alone, without what is hidden',
    mixed('related', part('Content-Type: text/html', '<h1>Hours</h1><p hidden>PLANTED</p><p>Nine</p>')),
    [SENDER, 'Hours', 'Nine'],
  ],
  [
    'with a message in it',
    mixed(
      'mixed',
      part('Content-Type: text/plain', 'See below.'),
      part('Content-Type: message/rfc822', 'From: cy@example.com\r\nSubject: Inner\r\n\r\nInner text'),
    ),
    [SENDER, 'See below.', expect.stringContaining('Inner'), 'Inner text'],
  ],
  [
    'with a file',
    mixed(
      'mixed',
      part('Content-Type: text/plain', 'See file.'),
      part('Content-Type: application/pdf\r\nContent-Disposition: attachment; filename="a.pdf"', 'JVBERi0='),
    ),
    [SENDER, 'See file.', 'Attachments, which are not read: a.pdf'],
  ],
])('A mail %s is read', async (_, content, expected) => {
  const blocks = await readTexts(
    'mail',
    Buffer.from(content, content.includes('shift_jis') ? 'latin1' : 'utf8'),
  );
  expect(blocks.map((text) => text.trim())).toEqual(expected);
});

test('A mail that is nested without end is refused', async () => {
  const open = Array.from(
    { length: 500 },
    (_, index) => `--b${index}\r\nContent-Type: multipart/mixed; boundary="b${index + 1}"\r\n\r\n`,
  );
  const mail = `${HEADERS}Content-Type: multipart/mixed; boundary="b0"\r\n\r\n${open.join('')}`;
  await expect(readTexts('mail', mail)).rejects.toThrow('nested too deeply');
});
