import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';

import { createLogger } from '../../src/observability/logger.ts';
import { terminalOutput } from '../../src/observability/terminalOutput.ts';

test('A terminal shows time, level, message and fields, and an error’s stack below', () => {
  const lines: string[] = [];
  const output = terminalOutput({ write: (text) => lines.push(stripVTControlCharacters(text)) });
  const logger = createLogger('info', output);
  logger.info({ callId: 'c', toNumber: '+886912345678', parts: { ms: 1 } }, 'call ended');
  const error = new RangeError('too far');
  logger.error({ err: error }, 'failed');
  output.write('no JSON\n');
  expect(lines).toEqual([
    expect.stringMatching(
      /^\d\d:\d\d:\d\d\.\d{3} INFO {2}call ended {2}callId=c toNumber=\[redacted\] parts=\{"ms":1\}\n$/,
    ),
    expect.stringMatching(/ ERROR failed {2}err=\{"type":"RangeError","message":"too far"\}\nRangeError: /),
    'no JSON\n',
  ]);
});
