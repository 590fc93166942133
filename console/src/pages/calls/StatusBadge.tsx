import { Badge } from '@mantine/core';

import type { components } from '../../api/schema.d.ts';
import { codeText } from '../../codes/codeText.ts';
import { STATES } from '../call/colors.ts';

type Call = components['schemas']['Call'];

const COLORS: Readonly<Partial<Record<Call['status'], string>>> = {
  in_progress: STATES.good,
  failed: STATES.bad,
  busy: STATES.warning,
  no_answer: STATES.warning,
};

export function StatusBadge({ call: { status } }: { call: Pick<Call, 'status'> }) {
  const color = COLORS[status];
  return (
    <Badge tt="none" miw="max-content" variant={color ? 'filled' : 'default'} {...(color ? { color } : {})}>
      {codeText('callStatus', status)}
    </Badge>
  );
}
