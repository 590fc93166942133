import { Badge } from '@mantine/core';

import { textsIn } from '../../texts.ts';

const texts = textsIn({
  en: { success: 'Success', failure: 'No success' },
  'zh-TW': { success: '成功', failure: '未成功' },
});

interface OutcomeProps {
  readonly disposition: string | null;
  readonly success: boolean | null;
}

/** What the analysis says of a conversation. */
export function Outcome({ disposition, success }: OutcomeProps) {
  if (success === null) return disposition;
  return (
    <Badge color={success ? 'green' : 'red'}>
      {[disposition, success ? texts.success : texts.failure].filter(Boolean).join(' · ')}
    </Badge>
  );
}
