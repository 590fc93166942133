import { Pagination } from '@mantine/core';

import { formatNumber } from '../formats.ts';
import { textsIn } from '../texts.ts';

const texts = textsIn({
  en: {
    previous: 'Previous page',
    next: 'Next page',
    page: (number: string) => `Page ${number}`,
  },
  'zh-TW': {
    previous: '上一頁',
    next: '下一頁',
    page: (number: string) => `第 ${number} 頁`,
  },
});

interface PageNumbersProps {
  /** What is paged: the accessible name. */
  label: string;
  total: number;
  pageSize: number;
  /** From 1. */
  page: number;
  onChange: (page: number) => void;
}

/** The numbers of a list's pages; nothing where it has one page. */
export function PageNumbers({ label, total, pageSize, page, onChange }: PageNumbersProps) {
  if (total <= pageSize) return null;
  return (
    <Pagination
      aria-label={label}
      total={Math.ceil(total / pageSize)}
      value={page}
      onChange={onChange}
      getItemProps={(number) => ({ 'aria-label': texts.page(formatNumber(number)) })}
      getControlProps={(control) => ({ 'aria-label': control === 'previous' ? texts.previous : texts.next })}
    />
  );
}
