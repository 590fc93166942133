import { expect, test } from 'vitest';
import { startRig } from '../../support/rig.ts';

test.each([
  [true, [100, 180]],
  [false, [180]],
])('With showTrying %s an application gets the responses %j', async (showTrying, expected) => {
  const rig = await startRig({ showTrying });
  const seen: number[] = [];
  const call = rig.srf.createUAC(
    rig.phone.uri,
    { localSdp: 'v=0\r\n' },
    { cbProvisional: ({ status }) => seen.push(status) },
  );
  const refused = expect(call).rejects.toThrow('486');
  const invite = await rig.phone.next(/^INVITE/);
  for (const status of ['100 Trying', '180 Ringing', '486 Busy Here']) {
    rig.phone.send(rig.phone.answer(invite, status), rig.port);
  }
  await refused;
  expect(seen).toEqual(expected);
  await rig.close();
});
