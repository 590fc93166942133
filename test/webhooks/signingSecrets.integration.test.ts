import { describe, expect, test } from 'vitest';

import { createSigningSecrets, makeSigningSecret } from '../../src/webhooks/signingSecrets.ts';
import { useDatabase } from '../infra/postgres/support/databases.ts';
import { sessionWorld } from '../infra/postgres/support/sessions.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';

const HOUR = 3_600_000;

describe('SigningSecrets', () => {
  const opened = useDatabase();
  async function scene() {
    const { projectId, stores } = await sessionWorld(opened.database);
    const clock = createSimulatedClock();
    let made = 0;
    const makeSecret = () => {
      made += 1;
      return `whsec_${made}`;
    };
    return {
      projectId,
      clock,
      secrets: createSigningSecrets({ store: stores.webhookSecrets, clock, makeSecret }),
    };
  }

  test('creates one secret for simultaneous first uses', async () => {
    const { projectId, secrets } = await scene();
    const asked = await Promise.all([1, 2, 3].map(() => secrets.current(projectId)));
    expect(asked).toEqual(Array(3).fill({ secret: asked[0]?.secret, previousValidUntil: null }));
    expect(await secrets.signing(projectId)).toEqual([asked[0]?.secret]);
  });

  test('signs with both secrets for 24 hours after a rotation', async () => {
    const { projectId, secrets, clock } = await scene();
    const { secret: first } = await secrets.current(projectId);
    const { secret: second, previousValidUntil } = await secrets.rotate(projectId);
    expect(second).not.toBe(first);
    expect(previousValidUntil).toBe('2026-01-02T00:00:00.000Z');
    expect(await secrets.current(projectId)).toEqual({ secret: second, previousValidUntil });
    clock.advance(24 * HOUR - 1);
    expect(await secrets.signing(projectId)).toEqual([second, first]);
    clock.advance(1);
    expect(await secrets.signing(projectId)).toEqual([second]);
    expect(await secrets.current(projectId)).toEqual({ secret: second, previousValidUntil: null });
    const { secret: third } = await secrets.rotate(projectId);
    expect(await secrets.signing(projectId)).toEqual([third, second]);
  });

  test('may rotate before the first use, and stores secrets encrypted', async () => {
    const { projectId, secrets } = await scene();
    const { secret: first } = await secrets.rotate(projectId);
    expect(await secrets.signing(projectId)).toEqual([first]);
    const [row] = await opened.database.query<{ secret: string }>(
      'SELECT secret FROM webhook_secrets WHERE project_id = $1',
      [projectId],
    );
    expect(row?.secret).not.toContain(first);
  });
});

test('makeSigningSecret makes whsec_ and 32 random bytes in base64', () => {
  expect(makeSigningSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(makeSigningSecret()).not.toBe(makeSigningSecret());
});
