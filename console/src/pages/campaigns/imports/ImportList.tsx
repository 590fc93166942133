import { useState } from 'react';

import { DropArea } from '../../../components/DropArea.tsx';
import { Section } from '../../../components/Section.tsx';
import { textsIn } from '../../../texts.ts';
import { type FirstRows, readFirstRows } from './firstRows.ts';
import { ImportProgress } from './ImportProgress.tsx';
import { MapColumns } from './MapColumns.tsx';

const texts = textsIn({
  en: {
    title: { contacts: 'Add contacts from a file', numbers: 'Add numbers from a file' },
    about: {
      contacts:
        'CSV or XLSX with a header, up to 1,000,000 rows. One column has the numbers; the others become variables of the call.',
      numbers:
        'CSV or XLSX with a header, up to 1,000,000 rows. One column has the numbers; the others are not read.',
    },
  },
  'zh-TW': {
    title: { contacts: '由檔案新增聯絡人', numbers: '由檔案加入號碼' },
    about: {
      contacts: '含標題列的 CSV 或 XLSX，最多 1,000,000 列。其中一欄是號碼，其他欄成為通話的變數。',
      numbers: '含標題列的 CSV 或 XLSX，最多 1,000,000 列。其中一欄是號碼，其他欄不會讀取。',
    },
  },
});

/** What takes a list: a campaign, or a do-not-call list. */
export interface ImportTarget {
  readonly kind: 'contacts' | 'numbers';
  /** Undefined for the installation. */
  readonly projectId: string | undefined;
  /** The path of the API that takes the file. */
  readonly path: string;
  /** Of the queries that show what was read. */
  readonly queryKey: readonly unknown[];
}

/** Takes a file, asks what its columns mean, and follows its import. */
export function ImportList({ target }: { target: ImportTarget }) {
  const [chosen, setChosen] = useState<{ file: File; firstRows: FirstRows | undefined } | undefined>();
  const [importId, setImportId] = useState<string | undefined>();
  const choose = async (file: File | undefined) => {
    if (!file) return;
    setChosen({ file, firstRows: await readFirstRows(file) });
    setImportId(undefined);
  };
  const onStarted = (started: string) => {
    setChosen(undefined);
    setImportId(started);
  };
  return (
    <Section title={texts.title[target.kind]} description={texts.about[target.kind]}>
      <DropArea accept=".csv,.tsv,.txt,.xlsx" onFiles={([file]) => void choose(file)} />
      {chosen && (
        <MapColumns
          key={`${chosen.file.name} ${chosen.file.lastModified}`}
          target={target}
          file={chosen.file}
          firstRows={chosen.firstRows}
          onStarted={onStarted}
        />
      )}
      {importId !== undefined && <ImportProgress target={target} importId={importId} />}
    </Section>
  );
}
