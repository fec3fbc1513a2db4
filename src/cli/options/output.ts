import type { LogLevel, LogSettings } from '../../lib/logger.js'
import { LOG_LEVELS } from '../../lib/logger.js'
import type { Compatibility } from '../../rpc/core/context.js'
import { COMPATIBILITIES } from '../../rpc/core/context.js'
import { DEFAULT_LIMITS } from '../../rpc/core/limits.js'
import { COMMANDS, type Command, type Option } from './option.js'
import { choice, flag, maybeText, number, oneOf } from './rows.js'

// sync prints nothing but its log, and completion a script.
const WITHOUT_JSON: readonly Command[] = ['sync', 'completion', 'help']

/** Options under the heading "Output". */
export const outputOptions = {
  slowLogs: number('slow-logs', 'MS', DEFAULT_LIMITS.slowLogsMs, ['serve'], {
    min: 0,
    max: 3_600_000,
    unit: 'milliseconds',
    doc: 'Log queries that take at least this long are logged with their trace and advice; 0: never.',
  }),
  compat: {
    flag: 'compat',
    placeholder: COMPATIBILITIES.join('|'),
    default: 'specification' as Compatibility,
    doc:
      'Whose choices are served where the API specification and geth differ: number and logsBloom of the pending block (null; geth: ' +
      'its number and zeros, which ethers and cast need), and the hashes in the proof of an absent account (of nothing; geth: zeros).',
    commands: ['serve'],
    parse: oneOf('compat', COMPATIBILITIES),
  },
  pendingBlock: choice('pending-block', COMPATIBILITIES, ['serve'], 'The older name of --compat.', 'that of --compat'),
  logLevel: {
    flag: 'log-level',
    placeholder: 'LEVEL',
    default: 'info' as LogLevel,
    doc: `Log level on standard error: ${LOG_LEVELS.join(', ')}.`,
    commands: ['import', 'sync', 'serve', 'record'],
    parse: oneOf('log-level', LOG_LEVELS),
  },
  logFile: maybeText(
    'log-file',
    'FILE',
    ['import', 'sync', 'serve', 'record'],
    'File that the log is appended to, instead of standard error.',
    'none',
  ),
  accessLog: maybeText(
    'access-log',
    'FILE',
    ['serve'],
    'File that a line for each request is appended to, as JSON; - for standard output. SIGUSR2 opens it again.',
    'none',
  ),
  stopWithParent: flag(
    'stop-with-parent',
    ['serve'],
    'Stop when the process that started the server ends, npm and npx included; --fixture implies it. Not below setsid.',
  ),
  sizes: flag('sizes', ['status'], 'Show what a block, a transaction, a log and other items take on disk.'),
  check: flag(
    'check',
    ['status'],
    'Exit with 1 while a process that follows into the database is stuck, stopped or gone, for cron and probes.',
  ),
  signatures: maybeText(
    'signatures',
    'FILE',
    ['abi'],
    'File of function and event signatures that abi add adds, for guesses where no ABI names a selector or topic.',
    'none',
  ),
  sourcify: maybeText(
    'sourcify',
    'DIR|ADDRESS=DIR',
    ['abi'],
    "Sourcify repository, or a contract's directory with metadata.json, whose ABIs abi add adds.",
    'none',
  ),
  json: flag(
    'json',
    COMMANDS.filter((command) => !WITHOUT_JSON.includes(command)),
    'Print the result as one line of JSON. Messages, progress and the log stay on standard error.',
  ),
} as const satisfies { [key: string]: Option<unknown> }

/** Reads the log level and destination from the options. */
export function readLogging({ logLevel, logFile }: { logLevel: LogLevel; logFile: string | undefined }): LogSettings {
  return { level: logLevel, file: logFile }
}
