import { openSync } from 'node:fs'
import { isatty } from 'node:tty'
import { type DestinationStream, pino } from 'pino'
import { messageOf, UsageError } from './errors.js'
import { writeWhole } from './writeWhole.js'

/** The interface that Cairn needs of a logger: one line per call, fields first. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** What is logged, and where. */
export interface LogSettings {
  readonly level: LogLevel
  /** The file that lines are appended to; undefined: standard error. */
  readonly file?: string
}

/** Creates a logger that writes JSON lines to a file, else to standard error, so that standard output stays for
 *  results. Each thread may have its own. @throws UsageError when the file cannot be opened */
export function createLogger({ level, file }: LogSettings): Logger {
  const options = { level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime }
  if (file !== undefined) return pino(options, appendTo(file))
  // On a terminal a log line may replace a progress line, which is redrawn.
  return pino(options, lineOutput(2, isatty(2) ? '\r\x1b[K' : ''))
}

/** Appends whole lines to the end of the file, also after it was truncated: several threads write, and `copytruncate`
 *  works. */
function appendTo(file: string): DestinationStream {
  try {
    return lineOutput(openSync(file, 'a', 0o640))
  } catch (error) {
    throw new UsageError(`--log-file ${file}: ${messageOf(error)}`)
  }
}

// How long a slow reader of standard error may block a thread, once; a service manager is much faster.
const PATIENCE_MS = 1000

/** Drops lines that cannot be written, to a full disk or a closed or blocked pipe: they must not end the work. Lines
 *  are accepted again as soon as there is space. */
function lineOutput(fd: number, prefix = ''): DestinationStream {
  let isBlocked = false
  let isTorn = false
  return {
    write: (text) => {
      const line = Buffer.from(`${isTorn ? '\n' : ''}${prefix}${text}`)
      let written = 0
      try {
        written = writeWhole(fd, line, isBlocked ? 0 : PATIENCE_MS)
        isBlocked = written < line.length
      } catch (error) {
        written = (error as { written: number }).written
      }
      if (written > 0) isTorn = written < line.length
    },
  }
}

/** A logger that drops everything. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
