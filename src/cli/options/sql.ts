import { DEFAULT_SQL_LIMITS } from '../../server/sql/sqlLimits.js'
import { ENGINES } from '../../sql/protocol.js'
import { SQL_FORMATS } from '../sql/printer.js'
import type { Option } from './option.js'
import { choice, flag, maybeText, number } from './rows.js'

/** Options under the heading "SQL". */
export const sqlOptions = {
  sqlFormat: choice('format', SQL_FORMATS, ['sql'], 'How rows are printed.', 'table on a terminal, else csv'),
  engine: choice(
    'engine',
    ENGINES,
    ['sql'],
    'What answers: auto is DuckDB where it is installed, finds a lake, and answers as SQLite does, else SQLite. duckdb never falls ' +
      'back to SQLite.',
    'auto',
  ),
  lake: maybeText(
    'lake',
    'off|auto|DIR',
    ['sql', 'serve'],
    'Parquet files of the views for DuckDB. auto: those in DATADIR/lake; serve adds final blocks beside the server, sql before the query. ' +
      'DIR: sql queries the files there, of a lake or of cairn export; serve keeps the lake there. off: SQLite only.',
    'sql: DATADIR/lake if it is there; serve: the same, and adds nothing',
  ),
  sqlEngine: choice(
    'sql-engine',
    ENGINES,
    ['serve'],
    'What answers at /sql: with auto, DuckDB where it is installed and there is a lake.',
    'auto',
  ),
  duckdb: maybeText(
    'duckdb',
    'DIR',
    ['sql', 'serve', 'doctor'],
    'Where @duckdb/node-api is installed: a folder with node_modules.',
    "beside Cairn, the working directory, or npm's global folder",
  ),
  sql: flag('sql', ['serve'], 'Answer read-only SQL at POST /sql/<API_KEY>.'),
  sqlTimeout: number('sql-timeout', 'SECONDS', DEFAULT_SQL_LIMITS.timeoutMs / 1000, ['serve'], {
    min: 1,
    max: 86_400,
    unit: 'seconds',
    doc: 'Longest query at /sql, with the reading of its rows.',
  }),
  sqlMaxRows: number('sql-max-rows', 'N', DEFAULT_SQL_LIMITS.maxRows, ['serve'], {
    min: 1,
    max: 1_000_000_000,
    doc: 'Most rows of a query at /sql.',
  }),
  sqlMemory: number('sql-memory', 'MB', DEFAULT_SQL_LIMITS.memoryBytes / 2 ** 20, ['serve'], {
    min: 128,
    max: 65_536,
    unit: 'MiB',
    doc: 'Memory of the process of each query at /sql; a query that needs more fails.',
  }),
  sqlProcesses: number('sql-processes', 'N', DEFAULT_SQL_LIMITS.processes, ['serve'], {
    min: 1,
    max: 64,
    doc: 'Queries at /sql that run at a time, each in a process of its own; further ones get 503.',
  }),
} as const satisfies { [key: string]: Option<unknown> }
