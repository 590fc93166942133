import { Badge } from '@mantine/core';

import type { components } from '../../api/schema.d.ts';
import { textsIn } from '../../texts.ts';
import { STATES } from '../call/colors.ts';

type Call = components['schemas']['Call'];

const texts: Readonly<Record<Call['status'], string>> = textsIn({
  en: {
    scheduled: 'Scheduled',
    queued: 'Queued',
    dialing: 'Dialing',
    ringing: 'Ringing',
    in_progress: 'In progress',
    completed: 'Completed',
    busy: 'Busy',
    no_answer: 'No answer',
    failed: 'Failed',
    canceled: 'Canceled',
  },
  'zh-TW': {
    scheduled: '已排程',
    queued: '排隊中',
    dialing: '撥號中',
    ringing: '響鈴中',
    in_progress: '通話中',
    completed: '已完成',
    busy: '忙線',
    no_answer: '無人接聽',
    failed: '失敗',
    canceled: '已取消',
  },
});

const COLORS: Readonly<Partial<Record<Call['status'], string>>> = {
  in_progress: STATES.good,
  failed: STATES.bad,
  busy: STATES.warning,
  no_answer: STATES.warning,
};

/** A status in words; as it is where the console does not know it. */
export function statusText(status: string): string {
  return (Object.hasOwn(texts, status) && texts[status as Call['status']]) || status;
}

export function StatusBadge({ call: { status } }: { call: Pick<Call, 'status'> }) {
  const color = COLORS[status];
  return (
    <Badge tt="none" miw="max-content" variant={color ? 'filled' : 'default'} {...(color ? { color } : {})}>
      {texts[status]}
    </Badge>
  );
}
