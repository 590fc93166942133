import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createSigningSecrets } from '../../src/webhooks/signingSecrets.ts';
import { databases, migrated, type OpenDatabase } from '../infra/postgres/support/databases.ts';
import { sessionWorld } from '../infra/postgres/support/sessions.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';

const HOUR = 3_600_000;

describe.each(databases)('signing secrets on the $name database', ({ open }) => {
  let opened: OpenDatabase;
  beforeAll(async () => {
    opened = await migrated(open);
  });
  afterAll(() => opened.close());
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

  test('the first is made at the first use, and is one for all who ask at once', async () => {
    const { projectId, secrets } = await scene();
    const asked = await Promise.all([1, 2, 3].map(() => secrets.current(projectId)));
    expect(asked).toEqual(Array(3).fill({ secret: asked[0]?.secret, previousValidUntil: null }));
    expect(await secrets.signing(projectId)).toEqual([asked[0]?.secret]);
  });

  test('after a rotation both sign, for 24 hours', async () => {
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

  test('a rotation may come before the first use; the secret is sealed where it is kept', async () => {
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
