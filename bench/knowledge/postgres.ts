import { describeFilled, measureDatabase } from './database.ts';

console.log(describeFilled(await measureDatabase('postgres', Number(process.argv[2]))));
