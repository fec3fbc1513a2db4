import type { Option } from './option.js'
import { text } from './rows.js'

/** Options under the heading "Database". */
export const databaseOptions = {
  datadir: text(
    'datadir',
    'DIR',
    './data',
    [
      'import',
      'sync',
      'serve',
      'keys',
      'status',
      'explain-logs',
      'verify',
      'reindex',
      'rewind',
      'backup',
      'restore',
      'migrate',
      'export',
      'abi',
      'sql',
    ],
    'Directory of the database.',
  ),
} as const satisfies { [key: string]: Option<unknown> }
