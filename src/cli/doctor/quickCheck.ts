import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Finding, fail, ok, oneLine } from './check.js'

const REMEDY = "run 'cairn verify' for the place, then restore a copy or import again"

/** Runs `PRAGMA quick_check` on the database of a data directory, in a process that ends after `timeoutMs`. The check
 *  stops at its first fault, so that one which was not finished has found none so far. */
export function quickCheck(datadir: string, timeoutMs: number): Promise<Finding> {
  const entry = fileURLToPath(new URL('./quickCheckProcess.js', import.meta.url))
  const child = fork(entry, [datadir], { execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  let stderr = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-2_000)
  })
  return new Promise<Finding>((resolve) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      resolve(ok(`no fault within ${timeoutMs / 1000} s; 'cairn verify --file' checks all of it`))
    }, timeoutMs)
    const end = (finding: Finding) => {
      clearTimeout(timer)
      resolve(finding)
    }
    child.on('error', (error) => end(fail(oneLine(error.message), REMEDY)))
    child.on('message', (text: string) => end(text === 'ok' ? ok('no fault') : fail(oneLine(text), REMEDY)))
    child.on('close', (code, signal) => {
      const [problem] = /^\w*Error: .*$/m.exec(stderr) ?? [`the check ended with ${signal ?? code}`]
      end(fail(problem, REMEDY))
    })
  })
}
