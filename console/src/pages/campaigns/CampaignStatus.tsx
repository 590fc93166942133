import { Badge } from '@mantine/core';

import { codeText } from '../../codes/codeText.ts';
import { STATES } from '../call/colors.ts';
import type { Campaign } from './campaignData.ts';

const COLORS: Readonly<Partial<Record<Campaign['status'], string>>> = {
  running: STATES.good,
  paused: STATES.warning,
};

export function CampaignStatus({ status }: { status: Campaign['status'] }) {
  const color = COLORS[status];
  return (
    <Badge tt="none" miw="max-content" variant={color ? 'filled' : 'default'} color={color}>
      {codeText('campaignStatus', status)}
    </Badge>
  );
}
