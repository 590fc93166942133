import { afterAll, beforeAll, expect, test } from 'vitest';
import { SipParseError } from '../../../sip/message/errors.ts';
import { parseMessage } from '../../../sip/message/parse.ts';
import { validateResponse } from '../../../sip/message/validate.ts';
import { Phone } from '../support/phone.ts';
import { type Rig, startRig } from '../support/rig.ts';
import { tortureMessages } from './tortureMessages.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  for (const method of ['invite', 'register', 'options', 'message'] as const) {
    rig.srf[method]((_req, res) => res.send(200));
  }
});
afterAll(async () => rig.close());

test('All messages of RFC 4475 are tested', () => {
  expect(tortureMessages).toHaveLength(49);
  expect(new Set(tortureMessages.map(({ section }) => section)).size).toBe(49);
});

test.each(tortureMessages)('RFC 4475 section $section, $name: parsed as $parse', ({ text, parse }) => {
  let result = 'ok';
  try {
    parseMessage(Buffer.from(text, 'latin1'));
  } catch (error) {
    expect(error).toBeInstanceOf(SipParseError);
    result = (error as SipParseError).code;
  }
  expect(result).toBe(parse);
});

test.each(tortureMessages)('RFC 4475 section $section, $name: answered $answer', async ({ text, answer }) => {
  const phone = await Phone.open();
  phone.sendBytes(Buffer.from(text, 'latin1'), rig.port);
  if (answer === 0) expect(await phone.receivesNone(/./, 100)).toBe(true);
  else expect((await phone.next(/^SIP\/2.0 [2-6]/)).slice(8, 11)).toBe(String(answer));
  await phone.close();
});

test('RFC4475.md is up to date', async () => {
  const rows = tortureMessages.map(({ section, file, name, asks, parse, answer }) => {
    const parsed = parse === 'ok' ? 'yes' : `no: ${parse}`;
    const answered = answer === 0 ? 'nothing' : answer;
    return `| ${section} | ${file} | ${name} | ${asks} | ${parsed} | ${answered} |`;
  });
  const head = [
    '# The torture messages of RFC 4475',
    '',
    'What RFC 4475 requires for each message, and the response of a server whose application answers every request with 200.',
    'The tests send all messages over UDP and write this table. Three rejections depend on the application: 400 for unksm2,',
    '401 for regaut01, 415 for invut. Responses get no response. The 400 to inv2543, which has no Contact, goes to port 5060,',
    'the default port of its Via.',
    '',
    '| section | name | message | RFC 4475 | parsed | answered |',
    '| ------- | ---- | ------- | -------- | ------ | -------- |',
  ];
  await expect(`${[...head, ...rows].join('\n')}\n`).toMatchFileSnapshot('../../../sip/RFC4475.md');
});

test('A response with numbers out of range is invalid', () => {
  const scalar = tortureMessages.find(({ section }) => section === '3.1.2.5');
  const message = parseMessage(Buffer.from(scalar?.text ?? '', 'latin1'));
  expect(message.kind === 'response' && validateResponse(message)).toContain('CSeq');
});
