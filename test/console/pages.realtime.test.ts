import { afterAll } from 'vitest';

import { closeSharedConsole } from './support/consoleService.ts';

// Their tests, one page after the other, on one service and in one browser.
import './pages/signIn.ts';
import './pages/agent.ts';
import './pages/insights.ts';
import './pages/releases.ts';
import './pages/reviews.ts';
import './pages/projectPages.ts';
import './pages/calls.ts';
import './pages/campaigns.ts';
import './pages/operations.ts';
import './pages/talk.ts';

afterAll(closeSharedConsole);
