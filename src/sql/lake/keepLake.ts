import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Logger } from '../../lib/logger.js'
import type { LakeReport } from '../protocol.js'

// A row group of long rows and its compressed bytes.
const HEAP_MB = 1_024
/** Time until a process that died is started again. */
const RESTART_MS = 60_000

/** Extends the lake in `directory` with final blocks until closed, in a process of the lowest priority. Failures go to
 *  the log. */
export function keepLake({ datadir, directory, log }: { datadir: string; directory: string; log: Logger }) {
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let child: ChildProcess
  const start = () => {
    child = fork(
      fileURLToPath(new URL('./keeperProcess.js', import.meta.url)),
      [JSON.stringify({ datadir, directory })],
      { execArgv: [`--max-old-space-size=${HEAP_MB}`], stdio: ['ignore', 'ignore', 'ignore', 'ipc'], env: {} },
    )
    child.on('message', (report: LakeReport) => {
      if (report.kind === 'extended') log.info({ directory }, 'extended the lake')
      else log.warn({ directory, reason: report.message }, 'the lake is not extended')
    })
    child.on('error', (error) => log.warn({ directory, error }, 'the process of the lake failed'))
    child.on('exit', (code) => {
      if (isClosed || code === 0) return
      log.warn({ directory }, 'the process of the lake died')
      timer = setTimeout(start, RESTART_MS)
    })
  }
  start()
  return {
    /** Resolves when the process has ended. */
    async close(): Promise<void> {
      isClosed = true
      clearTimeout(timer)
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL') // a file that is incomplete does not count
      await ended
    },
  }
}
