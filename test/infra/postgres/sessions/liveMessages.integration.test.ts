import { beforeEach, describe, expect, test } from 'vitest';

import type { Session } from '../../../../src/engine/session/session.ts';
import { useDatabase } from '../support/databases.ts';
import { type SessionWorld, sessionWorld, user } from '../support/sessions.ts';

const words = (count: number, prefix = 'message') =>
  Array.from({ length: count }, (_, index) => user(`${prefix} ${index}`));
const textsOf = ({ state: { messages } }: Session) => messages.map(({ content }) => content);

describe('Messages of live sessions', () => {
  const opened = useDatabase();
  let world: SessionWorld;
  beforeEach(async () => {
    world = await sessionWorld(opened.database);
  });
  const find = async ({ sessionId }: Session): Promise<Session> => {
    const session = await world.stores.sessions.find(world.projectId, sessionId);
    if (!session) throw new Error('no session');
    return session;
  };
  const whole = async (session: Session): Promise<Session> => {
    const before = await world.stores.sessions.messagesBefore(session);
    return { ...session, state: { ...session.state, messages: [...before, ...session.state.messages] } };
  };
  const storedState = async ({ instanceId }: Session) => {
    const [row] = await opened.database.query<{ state: object }>(
      'SELECT state FROM sessions WHERE instance_id = $1',
      [instanceId],
    );
    if (!row) throw new Error('no session');
    return row.state;
  };
  test('a turn reads the newest 400, and the others are there', async () => {
    let session = await world.start();
    for (let n = 0; n < 5; n += 1) session = await world.say(session, words(100, `${n}:`));
    const found = await find(session);
    expect(found).toMatchObject(session);
    expect([found.state.messages.length, found.state.messagesBefore]).toEqual([400, 100]);
    expect(textsOf(await whole(found))).toEqual(
      [0, 1, 2, 3, 4].flatMap((n) => words(100, `${n}:`).map(({ content }) => content)),
    );
    expect(await storedState(session)).not.toHaveProperty('messages');
  });
});
