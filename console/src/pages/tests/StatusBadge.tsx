import { Badge } from '@mantine/core';

import { textsIn } from '../../texts.ts';
import type { Status } from './testData.ts';

const texts = textsIn<Record<Status, string>>({
  en: {
    queued: 'Queued',
    running: 'Running',
    passed: 'Passed',
    failed: 'Failed',
    flaky: 'Flaky',
    error: 'Error',
    canceled: 'Canceled',
  },
  'zh-TW': {
    queued: '排隊中',
    running: '執行中',
    passed: '通過',
    failed: '失敗',
    flaky: '不穩定',
    error: '錯誤',
    canceled: '已取消',
  },
});

const COLORS: Record<Status, string> = {
  queued: 'gray',
  running: 'blue',
  passed: 'teal',
  failed: 'red',
  flaky: 'orange',
  error: 'red',
  canceled: 'gray',
};

/** How a run, a case or a play of it stands. */
export function StatusBadge({ status }: { status: Status }) {
  return (
    <Badge color={COLORS[status]} variant="outline" style={{ flexShrink: 0 }}>
      {texts[status]}
    </Badge>
  );
}
